import { expect, test } from 'vitest'
import { runProxy } from '../../run-proxy.ts'
import { builds, dial, freePort, makeEndpointSpec, type RawClient, startEngine, until } from '../../stage.ts'

/** The only place of an engine that has one: connections that have just been closed may still have it. */
async function takePlace(port: number): Promise<RawClient> {
  for (;;) {
    const client = await dial(port)
    client.send('PING\r\n')
    await until(() => client.text().endsWith('\r\n') || client.ended())
    if (client.text() === '+PONG\r\n') return client
    client.socket.destroy()
  }
}

test.for(builds)(
  'before the role moves to an engine that accepts no clients, the endpoint reports that with the reason: %s',
  async (build) => {
    await using proxy = await runProxy()
    await using old = await startEngine(build)
    await using successor = await startEngine(build)
    const params = { id: 'bdb-1' }
    const wanted = makeEndpointSpec(await freePort(), old.port)
    await proxy.client.putEndpoint({ params, body: wanted })
    const upstream = { host: '127.0.0.1', port: successor.port }
    const prepare = (to = upstream) => proxy.client.prepareEndpoint({ params, body: { upstream: to } })
    /** Asks again: where the machine stalls, an answer may come too late. */
    const untilReported = async (wanted: object, to = upstream) => {
      let last: object = {}
      const isReported = async () => {
        last = await prepare(to)
        return Object.entries(wanted).every(([name, value]) => Reflect.get(last, name) === value)
      }
      await until(isReported, () => JSON.stringify(last))
    }
    // No client would be cut.
    successor.process.kill('SIGSTOP')
    expect(await prepare()).toEqual({ prepared: 0, unreachable: null })
    await using client = await dial(wanted.port)
    await client.ask('PING', '+PONG\r\n')
    // Its kernel still accepts connections: prepared links prove nothing.
    await untilReported({ unreachable: `127.0.0.1:${successor.port} does not answer a new connection` })
    successor.process.kill('SIGCONT')
    await untilReported({ prepared: 1, unreachable: null })

    await using full = await startEngine(build, '--maxclients', '1')
    await using _ = await takePlace(full.port)
    const why = `127.0.0.1:${full.port} says: ERR max number of clients reached`
    await untilReported({ unreachable: why }, { host: '127.0.0.1', port: full.port })
    await client.ask('PING', '+PONG\r\n')
  },
)
