import { expect, test } from 'vitest'
import { keyOf, makeCluster } from '../../sharded-stage.ts'
import { dial, type Engine, makePair, type Pair, until } from '../../stage.ts'
import { beginLongValue, getLongValue } from '../../stream-value.ts'

const MB = 1024 * 1024
const host = '127.0.0.1'
const LONG = 2 * MB

/** Waits until an engine has this many bytes of an incomplete request. */
async function hasBegun({ admin }: Engine, bytes: number): Promise<void> {
  await until(async () =>
    [...(await admin('CLIENT LIST')).matchAll(/qbuf=(\d+)/g)].some(([, length]) => Number(length) >= bytes),
  )
}

async function moveTo(pair: Pair): Promise<void> {
  await pair.moveRole()
  await pair.endpoint.switchTo({ host, port: pair.primary().port })
}

test('a handover does not wait for a client that stops in the middle of 2 MB, and its whole request goes to the new primary', async () => {
  await using pair = await makePair()
  await using value = await beginLongValue(pair.port, 'k', LONG)
  await value.sendUpTo(MB)
  await hasBegun(pair.a, MB)
  expect(await pair.endpoint.hold({ deadlineMs: 10_000, drainMs: 5_000 })).toMatchObject({
    drained: true,
    late: 0,
  })
  await moveTo(pair)
  await value.sendUpTo(LONG)
  await value.isSet()
  expect(await getLongValue(pair.port, 'k')).toBe(LONG)
  expect(await pair.b.admin('STRLEN k')).toBe(`:${LONG}\r\n`)
  expect(pair.endpoint.report()).toMatchObject({ errors: 0, behind: [] })
})

test('bytes that a client sends while it is held come after its earlier bytes, and before its next request', async () => {
  await using pair = await makePair()
  await using value = await beginLongValue(pair.port, 'k', LONG)
  await value.sendUpTo(MB)
  await hasBegun(pair.a, MB)
  expect(await pair.endpoint.hold({ deadlineMs: 10_000 })).toMatchObject({ drained: true })
  const rest = value.sendUpTo(LONG).then(() => value.client.send('STRLEN k\r\nINCR n\r\n'))
  await moveTo(pair)
  await rest
  await value.isSet()
  await value.client.gets(`:${LONG}\r\n:1\r\n`)
  expect(await getLongValue(pair.port, 'k')).toBe(LONG)
})

test('a request with two handovers and a failed hold in its middle is carried out once', async () => {
  await using pair = await makePair()
  await using client = await dial(pair.port)
  const word = 'x'.repeat(LONG)
  client.send(`*3\r\n$6\r\nAPPEND\r\n$1\r\nk\r\n$${LONG}\r\n${word.slice(0, 300_000)}`)
  await hasBegun(pair.a, 300_000)
  await pair.handOver()
  client.send(word.slice(300_000, 800_000))
  await hasBegun(pair.primary(), 800_000)
  await pair.handOver()
  expect(await pair.endpoint.hold({ deadlineMs: 10_000 })).toMatchObject({ drained: true })
  pair.endpoint.release()
  client.send(`${word.slice(800_000)}\r\n`)
  await client.gets(`:${LONG}\r\n`)
  await client.ask('STRLEN k', `:${LONG}\r\n`)
})

test('a long request in a transaction, after SETNAME and SELECT, moves with all of that', async () => {
  await using pair = await makePair()
  await using client = await dial(pair.port)
  await client.ask('SELECT 3', '+OK\r\n')
  await client.ask('MULTI', '+OK\r\n')
  await client.ask('INCR n', '+QUEUED\r\n')
  client.send(`*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$${LONG}\r\n${'x'.repeat(MB)}`)
  await hasBegun(pair.a, MB)
  await pair.handOver()
  client.send(`${'x'.repeat(MB)}\r\n`)
  await client.gets('+QUEUED\r\n')
  await client.ask('EXEC', '*2\r\n:1\r\n+OK\r\n')
  await client.ask('STRLEN k', `:${LONG}\r\n`)
})

test('if the old primary dies while a client is held in the middle of a request, the new primary carries it out', async () => {
  await using pair = await makePair()
  await using value = await beginLongValue(pair.port, 'k', LONG)
  await value.sendUpTo(MB)
  await hasBegun(pair.a, MB)
  expect(await pair.endpoint.hold({ deadlineMs: 10_000 })).toMatchObject({ drained: true })
  pair.a.process.kill('SIGKILL')
  await pair.b.admin('REPLICAOF NO ONE')
  await pair.endpoint.switchTo({ host, port: pair.b.port })
  await value.sendUpTo(LONG)
  await value.isSet()
  expect(await pair.b.admin('STRLEN k')).toBe(`:${LONG}\r\n`)
})

test('in a sharded database a request with a handover in its middle is carried out once, too', {
  timeout: 60_000,
}, async () => {
  await using cluster = await makeCluster({ withReplicas: true })
  const [key] = keyOf
  await using value = await beginLongValue(cluster.port, key, LONG)
  await value.sendUpTo(MB)
  const [first] = cluster.primaries
  if (first === undefined) throw new Error('no engines')
  await hasBegun(first, MB / 2)
  await cluster.handOver(0)
  await value.sendUpTo(LONG)
  await value.isSet()
  await using client = await dial(cluster.port)
  await client.ask(`STRLEN ${key}`, `:${LONG}\r\n`)
  expect(cluster.endpoint.report()).toMatchObject({ errors: 0 })
})
