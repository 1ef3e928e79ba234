import { BUCKET_MS, TAPE_LEAD_BUCKETS } from '@fairlead/api'
import { expect, test } from 'vitest'
import type { Endpoint } from '../../../packages/proxy/src/endpoint/endpoint.ts'
import type { TapePart } from '../../../packages/proxy/src/traffic/recording.ts'
import { keyOf, makeCluster } from '../../../packages/proxy/test/sharded-stage.ts'
import { dial, makePair, newest, type RawClient, until } from '../../../packages/proxy/test/stage.ts'

/** When requests were sent and answered, in milliseconds since the start of the machine. */
interface Asked {
  readonly sentMs: number
  readonly gotMs: number
}

const nowMs = () => Number(process.hrtime.bigint()) / 1e6

/** The client's own record of one request. */
async function ask(client: RawClient, line: string, answer: string): Promise<Asked> {
  const sentMs = nowMs()
  await client.ask(line, answer)
  return { sentMs, gotMs: nowMs() }
}

/**
 * Up to the end of each bucket, a tape has all replies that clients had got by then, and none to a request
 * that was sent later.
 */
function expectAgreement(
  { first, ...counts }: TapePart,
  record: readonly Asked[],
  of: 'replies' | 'errors' = 'replies',
): void {
  let counted = 0
  for (const [n, more] of counts[of].entries()) {
    counted += more
    const end = (first + n + 1) * BUCKET_MS
    const within = record.filter(({ sentMs }) => sentMs >= first * BUCKET_MS)
    expect(counted).toBeGreaterThanOrEqual(within.filter(({ gotMs }) => gotMs < end).length)
    expect(counted).toBeLessThanOrEqual(record.filter(({ sentMs }) => sentMs < end).length)
  }
}

/** Of a handover that has just taken place. */
async function completeTape({ endpoint }: { readonly endpoint: Endpoint }, slot?: number): Promise<TapePart> {
  let tape = endpoint.readTape(slot)
  await until(() => {
    tape = endpoint.readTape(slot)
    return tape !== null && tape.replies.length > 2 * TAPE_LEAD_BUCKETS + tape.heldMs / BUCKET_MS
  })
  if (tape === null) throw new Error('there is no tape')
  return tape
}

const most = (counts: readonly number[]) => Math.max(...counts)

test('a tape has what clients saw before, in and after a handover: replies, requests that waited, errors', async () => {
  await using pair = await makePair(newest, newest)
  const { endpoint } = pair
  await using one = await dial(pair.port)
  await using other = await dial(pair.port)
  const record: Asked[] = []
  const before = endpoint.report().traffic.bytesIn
  for (let n = 0; n < 30; n += 1) record.push(await ask(one, 'SET key value', '+OK\r\n'))
  expect((await endpoint.hold({ deadlineMs: 60_000 })).drained).toBe(true)
  expect(endpoint.readTape()).toBe(null)
  const sentMs = nowMs()
  one.send('INCR n\r\n'.repeat(3))
  other.send('INCR m\r\n')
  await until(() => endpoint.report().traffic.bytesIn - before === 30 * 15 + 4 * 8)
  await pair.moveRole()
  const { heldMs, requests } = await endpoint.switchTo({ host: '127.0.0.1', port: pair.primary().port })
  await one.gets(':1\r\n:2\r\n:3\r\n')
  await other.gets(':1\r\n')
  const gotMs = nowMs()
  record.push(...Array.from({ length: 4 }, () => ({ sentMs, gotMs })))
  const refused = await ask(
    other,
    'LPUSH key value',
    '-WRONGTYPE Operation against a key holding the wrong kind of value\r\n',
  )

  const early = endpoint.readTape()
  if (early === null) throw new Error('there is no tape')
  const readMs = nowMs()
  expectAgreement(early, [...record, refused])
  // What has not come yet is no silence.
  expect((early.first + early.replies.length - 1) * BUCKET_MS).toBeLessThanOrEqual(readMs)
  const tape = await completeTape(pair)
  expectAgreement(tape, [...record, refused])
  expectAgreement(tape, [refused], 'errors')
  expect(tape.heldMs).toBe(heldMs)
  expect([most(tape.held), requests]).toEqual([4, 4])
  const at = (ms: number) => Math.floor(ms / BUCKET_MS) - tape.first
  // They waited from their arrival until the hold ended, and not in other buckets.
  const waiting = [...tape.held.keys()].filter((n) => tape.held[n] !== 0)
  expect(waiting[0]).toBeGreaterThanOrEqual(at(sentMs))
  expect(waiting.at(-1)).toBeLessThanOrEqual(at(gotMs))
  expect(waiting).toHaveLength((waiting.at(-1) ?? 0) - (waiting[0] ?? 0) + 1)
  // Two and a half seconds before, and after.
  expect(at(tape.beganMs)).toBe(TAPE_LEAD_BUCKETS)
  const heldFor = Math.floor(heldMs / BUCKET_MS)
  expect(tape.replies.length - 2 * TAPE_LEAD_BUCKETS).toBeGreaterThanOrEqual(heldFor)
})

test('without clients a tape has only zeros, and a hold without a switch leaves none', async () => {
  await using pair = await makePair(newest, newest)
  const { endpoint } = pair
  expect((await endpoint.hold({ deadlineMs: 60_000 })).drained).toBe(true)
  endpoint.release()
  expect(endpoint.readTape()).toBe(null)
  await pair.handOver()
  const { replies, held, errors } = await completeTape(pair)
  expect([...replies, ...held, ...errors].filter((n) => n !== 0)).toEqual([])
})

test('a client that is closed counts as an error', async () => {
  await using pair = await makePair(newest, newest)
  await using client = await dial(pair.port)
  await client.ask('PING', '+PONG\r\n')
  await pair.handOver()
  const sentMs = nowMs()
  client.send('*1\r\n$nonsense\r\n')
  await until(() => client.ended())
  const tape = pair.endpoint.readTape()
  if (tape === null) throw new Error('there is no tape')
  expectAgreement(tape, [{ sentMs, gotMs: nowMs() }], 'errors')
})

test('of a sharded database each group has its own tape', async () => {
  await using cluster = await makeCluster({ withReplicas: true })
  const { endpoint } = cluster
  await using client = await dial(cluster.port)
  const record: Asked[] = []
  for (let n = 0; n < 10; n += 1)
    for (const [group, key] of keyOf.entries()) {
      const asked = await ask(client, `SET ${key} value`, '+OK\r\n')
      if (group === 1) record.push(asked)
    }
  await cluster.handOver(1)
  record.push(await ask(client, `SET ${keyOf[1]} value`, '+OK\r\n'))
  const [first, second, third] = cluster.shards.map((shard) => endpoint.readTape(shard.first))
  expect([first, third]).toEqual([null, null])
  if (second == null) throw new Error('the group has no tape')
  expectAgreement(second, record)
})

test('of a sharded database a client that is closed is an error in each group that it has used; a lost connection to an engine, which its client does not notice, is none', async () => {
  await using cluster = await makeCluster({ withReplicas: true })
  const { endpoint, shards } = cluster
  await using stays = await dial(cluster.port)
  await using leaves = await dial(cluster.port)
  const ofTwoGroups = keyOf.slice(0, 2)
  const useBoth = async (client: RawClient) => {
    for (const key of ofTwoGroups) await client.ask(`SET ${key} value`, '+OK\r\n')
  }
  for (const client of [stays, leaves]) await useBoth(client)
  for (const group of [0, 1, 2]) await cluster.handOver(group)
  const links = () => endpoint.clients({ limit: 10 }).clients.flatMap(({ via }) => via)
  const before = new Set(links().map(({ address }) => address))
  expect(before.size).toBe(4)
  for (const { admin } of cluster.replicas) await admin('CLIENT KILL TYPE normal')
  await until(() => !links().some(({ address }) => before.has(address)))
  for (const client of [stays, leaves]) await useBoth(client)
  leaves.send('*1\r\n$nonsense\r\n')
  await until(() => leaves.ended())
  await stays.ask('PING', '+PONG\r\n')
  const errors = shards.map(({ first }) => endpoint.readTape(first)?.errors.reduce((sum, n) => sum + n, 0))
  expect(errors).toEqual([1, 1, 0])
})

test('of a sharded database a redirect that no client sees is neither a reply nor an error', async () => {
  await using cluster = await makeCluster({ withReplicas: true })
  const { endpoint, shards } = cluster
  // Without the right to read the table of commands the place of some keys is assumed wrongly.
  for (const { admin } of [...cluster.primaries, ...cluster.replicas])
    await admin('ACL SETUSER bob on >pw ~* +@all -command')
  await using bob = await dial(cluster.port)
  await bob.ask('AUTH bob pw', '+OK\r\n')
  for (const key of keyOf) await bob.ask(`XADD ${key} 1-1 f v`, '$3\r\n1-1\r\n')
  for (const group of [0, 1, 2]) await cluster.handOver(group)
  const tapes = () => shards.map(({ first }) => endpoint.readTape(first))
  const total = (of: 'replies' | 'errors') =>
    tapes().map((tape) => tape?.[of].reduce((sum, n) => sum + n, 0) ?? 0)
  const before = total('replies')
  for (const key of keyOf) await bob.ask(`XGROUP CREATE ${key} grp 0`, '+OK\r\n')
  expect([total('replies').map((n, group) => n - (before[group] ?? 0)), total('errors')]).toEqual([
    [1, 1, 1],
    [0, 0, 0],
  ])
})
