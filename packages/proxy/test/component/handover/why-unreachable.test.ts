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
    const prepare = () => proxy.client.prepareEndpoint({ params, body: { upstream } })
    // No client would be cut.
    successor.process.kill('SIGSTOP')
    expect(await prepare()).toEqual({ prepared: 0, unreachable: null })
    await using client = await dial(wanted.port)
    await client.ask('PING', '+PONG\r\n')
    // Its kernel still accepts connections: prepared links prove nothing.
    expect(await prepare()).toMatchObject({
      unreachable: `127.0.0.1:${successor.port} does not answer a new connection`,
    })
    successor.process.kill('SIGCONT')
    expect(await prepare()).toEqual({ prepared: 1, unreachable: null })

    await using full = await startEngine(build, '--maxclients', '1')
    await using _ = await takePlace(full.port)
    const { unreachable } = await proxy.client.prepareEndpoint({
      params,
      body: { upstream: { host: '127.0.0.1', port: full.port } },
    })
    expect(unreachable).toBe(`127.0.0.1:${full.port} says: ERR max number of clients reached`)
    await client.ask('PING', '+PONG\r\n')
  },
)
