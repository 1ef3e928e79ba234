import { expect, onTestFinished, test, vi } from 'vitest'
import { type Endpoint, openEndpoint } from '../../../src/endpoint/endpoint.ts'
import { createAdmission } from '../../../src/listen/admission.ts'
import { type Cut, createCutLog } from '../../../src/listen/cut-log.ts'
import { openShardedEndpoint } from '../../../src/sharded/sharded-endpoint.ts'
import { dialServed, makeShardedSpec } from '../../sharded-stage.ts'
import {
  dial,
  type Engine,
  freePort,
  makeEndpointSpec,
  newest,
  oldest,
  startEngine,
  until,
} from '../../stage.ts'

const host = '127.0.0.1'
const at = ({ port }: Engine) => ({ host, port })

interface Watched extends AsyncDisposable {
  readonly endpoint: Endpoint
  readonly port: number
  readonly cuts: Cut[]
}

/** An endpoint in front of an engine, and its log of closed clients. */
async function watch(engine: Engine, most = 100): Promise<Watched> {
  const cuts: Cut[] = []
  const options = { admission: createAdmission(most), onCut: (cut: Cut) => void cuts.push(cut) }
  const endpoint = await openEndpoint(makeEndpointSpec(await freePort(), engine.port), options)
  const { port } = endpoint.wanted
  return { endpoint, port, cuts, [Symbol.asyncDispose]: () => endpoint[Symbol.asyncDispose]() }
}

/** The address under which an engine knows the client of this name. */
async function addressAt(engine: Engine, name: string): Promise<string | undefined> {
  const lines = (await engine.admin('CLIENT LIST')).split('\n')
  return / addr=(\S+)/.exec(lines.find((line) => line.includes(` name=${name} `)) ?? '')?.[1]
}

test('a client is found by the address that a shard sees, with its name and user, also after the role has moved', async () => {
  await using old = await startEngine(oldest)
  await using engine = await startEngine(newest)
  for (const each of [old, engine]) await each.admin('ACL SETUSER app on nopass ~* +@all')
  await using watched = await watch(old)
  const { endpoint, port } = watched
  await using first = await dial(port)
  await first.ask('AUTH app secret', '+OK\r\n')
  await first.ask('CLIENT SETNAME orders', '+OK\r\n')
  await using second = await dial(port)
  await second.ask('PING', '+PONG\r\n')

  const client = first.address
  const address = await addressAt(old, 'orders')
  const via = [{ address, shard: `${host}:${old.port}` }]
  const { connections, clients } = endpoint.clients({ limit: 10 })
  expect(connections).toBe(2)
  expect(clients).toMatchObject([
    { client, via, name: 'orders', user: 'app', held: false },
    { client: second.address, name: '', user: 'default' },
  ])
  expect(Math.abs((clients[0]?.connectedAt ?? 0) - Date.now())).toBeLessThan(60_000)
  expect(JSON.stringify(clients)).not.toContain('secret')
  expect(endpoint.clients({ limit: 1 }).clients).toHaveLength(1)
  expect(endpoint.clients({ limit: 1, via: address ?? '' }).clients).toMatchObject([{ client }])
  expect(endpoint.clients({ limit: 1, via: 'unknown:1' }).clients).toEqual([])

  await endpoint.hold({ deadlineMs: 60_000 })
  expect(endpoint.clients({ limit: 10 }).clients).toMatchObject([{ held: true }, { held: true }])
  first.send('PING\r\n')
  await endpoint.switchTo(at(engine))
  await first.gets('+PONG\r\n')
  const moved = { address: await addressAt(engine, 'orders'), shard: `${host}:${engine.port}` }
  expect(endpoint.clients({ limit: 1 }).clients).toMatchObject([{ client, via: [moved], name: 'orders' }])
})

test('a client that is cut is logged with its address, the address of its link, and the reason; a client that leaves is not logged', async () => {
  await using engine = await startEngine(newest)
  await using successor = await startEngine(newest)
  await using watched = await watch(engine, 3)
  const { endpoint, port, cuts } = watched
  const shard = `${host}:${engine.port}`
  {
    await using leaves = await dial(port)
    await leaves.ask('QUIT', '+OK\r\n')
    await until(() => leaves.ended())
    await using hangsUp = await dial(port)
    await hangsUp.ask('PING', '+PONG\r\n')
    hangsUp.socket.resetAndDestroy()
  }
  await until(() => endpoint.report().connections === 0)
  expect(cuts).toEqual([])

  await using garbled = await dial(port)
  garbled.send('*x\r\n')
  await until(() => garbled.ended())
  expect(cuts).toMatchObject([
    {
      client: garbled.address,
      via: [{ shard }],
      why: expect.stringMatching(/^it has sent no request: /),
    },
  ])

  await using watching = await dial(port)
  await watching.ask('MONITOR', '+OK\r\n')
  await using idle = await dial(port)
  await idle.ask('CLIENT SETNAME idle', '+OK\r\n')
  await using other = await dial(port)
  await other.ask('PING', '+PONG\r\n')
  const tooMany = await dial(port)
  await until(() => tooMany.ended())
  expect(cuts.slice(1)).toEqual([
    { client: tooMany.address, via: [], why: 'the process has reached its limit of connections' },
  ])

  const address = await addressAt(engine, 'idle')
  await engine.admin(`CLIENT KILL ADDR ${address}`)
  await until(() => idle.ended())
  expect(cuts.slice(2)).toEqual([
    { client: idle.address, via: [{ address, shard }], why: 'its shard closed the connection' },
  ])
  await endpoint.switchTo(at(successor))
  expect(cuts.slice(3)).toMatchObject([
    { client: watching.address, why: expect.stringContaining('cannot follow its database') },
  ])
  await endpoint[Symbol.asyncDispose]()
  expect(cuts.slice(4)).toMatchObject([{ client: other.address, why: 'the endpoint was removed' }])
})

test('a client of a sharded database is listed with all of its links, and logged with them when it is closed', async () => {
  await using a = await startEngine(newest)
  await using b = await startEngine(newest)
  const cuts: Cut[] = []
  const shards = [
    { first: 0, last: 8_191, upstream: at(a) },
    { first: 8_192, last: 16_383, upstream: at(b) },
  ]
  await using endpoint = await openShardedEndpoint(await makeShardedSpec(shards), {
    onCut: (cut) => void cuts.push(cut),
  })
  await using client = await dialServed(endpoint.wanted.port)
  await client.ask('CLIENT SETNAME cart', '+OK\r\n')
  const shardOf = ({ port }: Engine) => `${host}:${port}`
  const home = { address: await addressAt(a, 'cart'), shard: shardOf(a) }
  expect(endpoint.clients({ limit: 9 }).clients).toMatchObject([
    { via: [home], name: 'cart', user: 'default' },
  ])
  await client.ask('SET {a}k 1', '+OK\r\n')
  const via = [home, { address: await addressAt(b, 'cart'), shard: shardOf(b) }]
  expect(endpoint.clients({ limit: 9, via: via[1]?.address ?? '' })).toMatchObject({
    connections: 1,
    clients: [{ client: client.address, via, held: false }],
  })
  client.send('BLPOP {a}q 0\r\n')
  await until(async () => (await b.admin('CLIENT LIST')).includes('cmd=blpop'))
  b.process.kill('SIGKILL')
  await until(() => client.ended())
  expect(cuts).toEqual([{ client: client.address, via, why: 'its shard closed the connection' }])
})

test('the log has the first twenty that are cut in a second, how many more, and nothing of their data', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const lines: unknown[] = []
  const cuts = createCutLog('bdb-1', (what, details) => void lines.push({ what, ...details }))
  const via = [
    { address: '10.0.0.1:1', shard: '10.0.0.1:2' },
    { address: '10.0.0.1:3', shard: '10.0.0.1:4' },
  ]
  const why = "ERR unknown command 'X', with args beginning with: 'secret' "
  for (let n = 0; n < 50; n += 1) cuts.note({ client: `10.0.0.2:${n}`, via: n === 0 ? via : [], why })
  const [first, second] = lines
  const line = { what: 'client was cut', endpoint: 'bdb-1', why: "ERR unknown command 'X'" }
  expect(first).toEqual({
    ...line,
    client: '10.0.0.2:0',
    via: '10.0.0.1:1 10.0.0.1:3',
    shard: '10.0.0.1:2 10.0.0.1:4',
  })
  expect(second).toEqual({ ...line, client: '10.0.0.2:1' })
  expect(lines).toHaveLength(20)
  vi.advanceTimersByTime(1_000)
  expect(lines[20]).toEqual({ what: 'more clients were cut', endpoint: 'bdb-1', count: 30 })
  cuts.note({ client: '10.0.0.3:1', via: [], why: 'again' })
  cuts[Symbol.dispose]()
  expect(lines).toHaveLength(22)
})
