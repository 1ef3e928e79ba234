import { expect, test } from 'vitest'
import { keyOf, makeCluster } from '../test/sharded-stage.ts'
import { dial, makePair, until } from '../test/stage.ts'

/** More than is kept of a request that has begun. */
const LONG = 200_000
/** What an engine would carry out, if it got it as the beginning of a request. */
const tail = '\r\nSET smuggled executed\r\nDEL precious\r\nthat was all'

/** A SET whose value ends with commands, in two parts: the second begins where the commands do. */
function longSet(key: string): readonly [string, string] {
  const head = 'x'.repeat(LONG)
  return [`*3\r\n$3\r\nSET\r\n$${key.length}\r\n${key}\r\n$${LONG + tail.length}\r\n${head}`, `${tail}\r\n`]
}

test('the rest of a long request is never carried out by another engine, as commands of its own', async () => {
  await using pair = await makePair()
  await using client = await dial(pair.port)
  await client.ask('SET precious 1', '+OK\r\n')
  const [begin, rest] = longSet('note')
  client.send(begin)
  const arrived = async () => [...(await pair.a.admin('CLIENT LIST')).matchAll(/qbuf=(\d+)/g)]
  await until(async () => (await arrived()).some(([, bytes]) => Number(bytes) >= LONG))
  expect(await pair.endpoint.hold({ deadlineMs: 2_000, drainMs: 100 })).toMatchObject({
    drained: true,
    late: 1,
  })
  await pair.moveRole()
  await pair.endpoint.switchTo({ host: '127.0.0.1', port: pair.b.port })
  pair.a.process.kill('SIGKILL')
  await until(() => pair.endpoint.report().behind.length === 0)
  client.send(rest)
  await until(() => client.ended() || client.text().length > 0)
  expect(client.text()).toBe('')
  expect(await pair.b.admin('MGET note smuggled precious')).toBe('*3\r\n$-1\r\n$-1\r\n$1\r\n1\r\n')
})

test('nor in a sharded database', { timeout: 40_000 }, async () => {
  await using cluster = await makeCluster({ withReplicas: true })
  await using client = await dial(cluster.port)
  const [key] = keyOf
  const [begin, rest] = longSet(key)
  client.send(begin)
  const from = cluster.primaries[0]
  const to = cluster.replicas[0]
  if (from === undefined || to === undefined) throw new Error('no engines')
  const arrived = async () => [...(await from.admin('CLIENT LIST')).matchAll(/qbuf=(\d+)/g)]
  await until(async () => (await arrived()).some(([, bytes]) => Number(bytes) >= LONG))
  expect(await cluster.endpoint.hold({ deadlineMs: 2_000, drainMs: 100, slot: 0 })).toMatchObject({ late: 1 })
  const port = await cluster.moveRole(0)
  await cluster.endpoint.switchTo({ host: '127.0.0.1', port }, 0)
  from.process.kill('SIGKILL')
  await until(() => cluster.endpoint.report().behind.length === 0)
  client.send(rest)
  await until(() => client.ended() || client.text().length > 0)
  expect(client.text()).toBe('')
  expect(await to.admin('DBSIZE')).toBe(':0\r\n')
})
