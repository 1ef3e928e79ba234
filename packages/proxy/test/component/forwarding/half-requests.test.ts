import { afterEach, expect, test, vi } from 'vitest'
import { createClock } from '../../pass-time.ts'
import { keyOf, makeCluster } from '../../sharded-stage.ts'
import { dial, makePair, type Pair, until } from '../../stage.ts'

/** Longer than a request that is kept until it is complete. */
const LONG = 200_000
/** Longer than a request that can follow to another primary. */
const LONGEST = 9 * 1024 * 1024
/** A handover does not wait for a client that has been silent for this time. */
const SILENT_MS = 2_100

afterEach(() => vi.restoreAllMocks())

/** Bytes that an engine would execute if they came as the beginning of a request. */
const tail = '\r\nSET smuggled executed\r\nDEL precious\r\nthat was all'

/** A SET whose value ends with commands, in two parts: the second begins where the commands do. */
function longSet(key: string, bytes = LONG): readonly [string, string] {
  const head = 'x'.repeat(bytes)
  return [`*3\r\n$3\r\nSET\r\n$${key.length}\r\n${key}\r\n$${bytes + tail.length}\r\n${head}`, `${tail}\r\n`]
}

// invariant: No request is continued at another engine.
test('the rest of a long request is never carried out by another engine, as commands of its own', async () => {
  await using pair = await makePair()
  const pass = createClock()
  await using client = await dial(pair.port)
  await client.ask('SET precious 1', '+OK\r\n')
  const [begin, rest] = longSet('note', LONGEST)
  client.send(begin)
  const arrived = async () => [...(await pair.a.admin('CLIENT LIST')).matchAll(/qbuf=(\d+)/g)]
  await until(async () => (await arrived()).some(([, bytes]) => Number(bytes) >= LONGEST))
  const times = { deadlineMs: 60_000, drainMs: 100 }
  expect(await pair.endpoint.hold(times)).toMatchObject({ drained: false })
  pass(SILENT_MS)
  expect(await pair.endpoint.hold(times)).toMatchObject({ drained: true, late: 1 })
  await pair.moveRole()
  await pair.endpoint.switchTo({ host: '127.0.0.1', port: pair.b.port })
  pair.a.process.kill('SIGKILL')
  await until(() => pair.endpoint.report().behind.length === 0)
  client.send(rest)
  await until(() => client.ended() || client.text().length > 0)
  expect(client.text()).toBe('')
  expect(await pair.b.admin('MGET note smuggled precious')).toBe('*3\r\n$-1\r\n$-1\r\n$1\r\n1\r\n')
})

test('in a sharded database the rest of a long request is not carried out as commands either', async () => {
  await using cluster = await makeCluster({ withReplicas: true })
  const pass = createClock()
  await using client = await dial(cluster.port)
  const [key] = keyOf
  const [begin, rest] = longSet(key, LONGEST)
  client.send(begin)
  const from = cluster.primaries[0]
  const to = cluster.replicas[0]
  if (from === undefined || to === undefined) throw new Error('no engines')
  const arrived = async () => [...(await from.admin('CLIENT LIST')).matchAll(/qbuf=(\d+)/g)]
  await until(async () => (await arrived()).some(([, bytes]) => Number(bytes) >= LONGEST))
  const times = { deadlineMs: 60_000, drainMs: 100, slot: 0 }
  expect(await cluster.endpoint.hold(times)).toMatchObject({ drained: false })
  pass(SILENT_MS)
  expect(await cluster.endpoint.hold(times)).toMatchObject({ late: 1 })
  const port = await cluster.moveRole(0)
  await cluster.endpoint.switchTo({ host: '127.0.0.1', port }, 0)
  from.process.kill('SIGKILL')
  await until(() => cluster.endpoint.report().behind.length === 0)
  client.send(rest)
  await until(() => client.ended() || client.text().length > 0)
  expect(client.text()).toBe('')
  expect(await to.admin('DBSIZE')).toBe(':0\r\n')
})

/** A client with a short SET that has begun. */
async function beginShort(pair: Pair) {
  const client = await dial(pair.port)
  await client.ask('SET precious 1', '+OK\r\n')
  client.send(`*3\r\n$3\r\nSET\r\n$4\r\nnote\r\n$${tail.length + 5}\r\nhello`)
  return client
}

test('a short request that has begun is sent whole to the new primary, however often the role moves and whichever engine dies', async () => {
  await using pair = await makePair()
  await using client = await beginShort(pair)
  const held = await pair.endpoint.hold({ deadlineMs: 60_000, drainMs: 50_000 })
  expect(held).toMatchObject({ drained: true, late: 0 })
  expect(held.ms).toBeLessThan(25_000)
  // In pieces, before the role moves, meanwhile, and afterwards.
  client.send(tail.slice(0, 20))
  await pair.moveRole()
  await pair.endpoint.switchTo({ host: '127.0.0.1', port: pair.b.port })
  client.send(tail.slice(20, 30))
  await pair.handOver()
  await pair.handOver()
  pair.a.process.kill('SIGKILL')
  await client.ask(tail.slice(30), '+OK\r\n')
  await client.ask('STRLEN note', `:${tail.length + 5}\r\n`)
  await client.ask('MGET smuggled precious', '*2\r\n$-1\r\n$1\r\n1\r\n')
  expect(pair.endpoint.report()).toMatchObject({ errors: 0, failedHolds: 0 })
})

test('a short request that has begun goes on at its engine when the role does not move', async () => {
  await using pair = await makePair()
  await using client = await beginShort(pair)
  await pair.endpoint.hold({ deadlineMs: 60_000 })
  client.send(`${tail}\r`)
  pair.endpoint.release()
  await client.ask('\nSTRLEN note', `+OK\r\n:${tail.length + 5}\r\n`.slice(0, 5))
  await client.gets(`:${tail.length + 5}\r\n`)
})

test('a hold inserts nothing into a long request of a client that wants no replies', async () => {
  await using pair = await makePair()
  await using client = await dial(pair.port)
  const [begin, rest] = longSet('note')
  client.send(`CLIENT REPLY OFF\r\nSET k v\r\n${begin}`)
  await until(async () => /qbuf=\d{6}/.test(await pair.a.admin('CLIENT LIST')))
  const pass = createClock()
  expect(await pair.endpoint.hold({ deadlineMs: 60_000, drainMs: 100 })).toMatchObject({ drained: false })
  pass(SILENT_MS)
  const again = pair.endpoint.hold({ deadlineMs: 60_000, drainMs: 50_000 })
  await until(() => pair.endpoint.report().isHeld)
  client.send(rest)
  expect(await again).toMatchObject({ drained: true, late: 0 })
  await pair.moveRole()
  await pair.endpoint.switchTo({ host: '127.0.0.1', port: pair.b.port })
  await client.ask('CLIENT REPLY ON', '+OK\r\n')
  await client.ask('STRLEN note', `:${LONG + tail.length}\r\n`)
  await client.ask('GET smuggled', '$-1\r\n')
})

test('the rest of a long request to a group that is dead is dropped, and its client goes on', async () => {
  await using cluster = await makeCluster()
  await using client = await dial(cluster.port)
  const [zero, one] = keyOf
  await client.ask(`SET ${zero} 1`, '+OK\r\n')
  const dead = cluster.primaries[1]?.process
  dead?.kill('SIGKILL')
  await until(() => dead?.signalCode === 'SIGKILL')
  await cluster.primaries[0]?.admin('CONFIG SET cluster-require-full-coverage no')
  const [begin, rest] = longSet(one)
  client.send(begin.slice(0, LONG / 2))
  await client.gets('-LOADING the database cannot be reached right now; try again\r\n')
  client.send(begin.slice(LONG / 2) + rest)
  await client.ask(`GET ${zero}`, '$1\r\n1\r\n')
})
