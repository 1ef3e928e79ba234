import { Redis } from 'ioredis'
import { expect } from 'vitest'
import { libraries } from '../../proof/clients/clients.ts'
import { startWork } from '../../proof/clients/work.ts'
import { createDatabase } from '../../proof/create-database.ts'
import { usualPair } from '../../proof/engine-pairs.ts'
import { freshName } from '../../proof/fresh-name.ts'
import { until } from '../../proof/until.ts'
import { goThroughHandovers } from '../support/client-course.ts'
import { test } from '../support/shared-fairlead.ts'

const { from, to } = usualPair()

/** The other libraries are in e2e/proof/clients. */
// invariant: Clients of usual libraries see no error and no new connection at a handover.
test.for(['node-redis', 'valkey-glide'])(
  '%s notices neither an upgrade, nor its rollback, nor roles that are preserved',
  async (name, { fairlead }) => {
    const { longestStallMs, ...found } = await goThroughHandovers(fairlead, name)
    expect(found).toMatchObject({ wrong: [], reconnects: 0 })
    // No client waited until a time limit. bench/handover measures how long they wait.
    expect(longestStallMs).toBeLessThan(30_000)
  },
)

test('a client that knows nothing of clusters does not notice that a sharded database is upgraded', async ({
  fairlead,
}) => {
  const { api } = fairlead
  const body = { name: freshName('sharded'), memory_size: 0, shards_count: 3, engine_version: from }
  const { uid, port, password, oss_cluster, endpoints } = await createDatabase(fairlead, body)
  expect([oss_cluster, endpoints.map((endpoint) => endpoint.port)]).toEqual([false, [port]])
  const { ioredis: library } = libraries
  if (library === undefined) throw new Error('ioredis is not among the libraries')
  const work = await startWork(library, { host: '127.0.0.1', port, password })
  await until('it is at work', async () => work.answers() > 1_000)
  const { action_uid } = await api.upgradeDatabase({ params: { uid }, body: { engine_version: to } })
  const { outcome, certificates } = await fairlead.untilEnded(action_uid)
  expect(outcome).toBe('completed')
  expect(certificates.map(({ held_ms }) => held_ms)).toEqual(Array(3).fill(expect.any(Number)))
  const after = work.answers()
  await until('it goes on', async () => work.answers() > after + 500)
  expect(await work.stop()).toMatchObject({ wrong: [], reconnects: 0 })
})

test('a client that asks a Sentinel connects to the primary itself, and follows it', async ({ fairlead }) => {
  const name = freshName('direct')
  const { uid, password } = await createDatabase(fairlead, { name, memory_size: 0, engine_version: from })
  const client = new Redis({
    sentinels: [{ host: '127.0.0.1', port: Number(fairlead.environment['FAIRLEAD_SENTINEL_PORT']) }],
    name,
    username: 'default',
    password,
    reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 2 : false),
  })
  client.on('error', () => undefined) // it connects again, as it should
  await using _ = { [Symbol.asyncDispose]: async () => client.disconnect() }
  expect(await client.set('a', '1')).toBe('OK')
  const shardOf = () => client.stream.remotePort
  const before = shardOf()
  const { action_uid } = await fairlead.api.upgradeDatabase({
    params: { uid },
    body: { engine_version: to },
  })
  expect(await fairlead.untilEnded(action_uid)).toMatchObject({ outcome: 'completed' })
  await until('it writes to the new primary', async () => {
    const answer = await client.set('a', '2').catch(() => 'not yet')
    return answer === 'OK' && shardOf() !== before
  })
  expect(await client.get('a')).toBe('2')
})
