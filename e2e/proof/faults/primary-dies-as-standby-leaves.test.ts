import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readReplication } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { asAdmin, lastWordsOf, pidOf } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { lossesOf } from '../../support/losses-of.ts'

const { from, to } = usualPair()
const KEYS = 1_000

test.concurrent.each([
  ['of a database of one group', 1, 'after record-leaving'],
  // The latest possible moment: next the agent gets the order to end it. The other nodes of its cluster must
  // know it until then.
  ['in cluster mode', 2, 'before remove-shard'],
])('a primary %s that dies when its standby has begun to leave loses nothing', async (_, groups, moment) => {
  await using fairlead = await startFairlead({
    serverMain: join(import.meta.dirname, '../../support/crash-main.ts'),
  })
  const { api, server } = fairlead
  const { uid, action_uid } = await api.createDatabase({
    body: { name: `leaves-${groups}`, memory_size: 0, engine_version: from, shards_count: groups },
  })
  await fairlead.untilEnded(action_uid)
  await server.end('SIGTERM')
  await server.start({ CRASH_WHEN: moment })
  const body = { engine_version: to }
  const { action_uid: upgrade = '' } = await api.upgradeDatabase({ params: { uid }, body })
  await server.ended

  const victims = await writeToAll(fairlead)
  expect(victims.length).toBeGreaterThan(0)
  for (const { pid } of victims) process.kill(pid, 'SIGKILL')
  await server.start()
  const action = await fairlead.untilEnded(upgrade)
  expect(action.status, `${action.error} ${lastWordsOf(fairlead)}`).toBe('completed')
  const losses = await lossesOf(fairlead, uid)
  expect(losses).toHaveLength(victims.length)
  for (const loss of losses)
    expect(loss).toMatchObject({ type: 'bdb_primary_replaced', lost_bytes: expect.stringMatching(/^\d+$/) })
  const logs = await api.listLogs({ query: { limit: 200 } })
  expect(logs.map(({ type }) => type)).not.toContain('bdb_stranger_in_cluster')
  const shards = await api.listDatabaseShards({ params: { uid } })
  expect(shards.map(({ role }) => role)).toEqual(Array(groups).fill('master'))
  for (const { hashtag } of victims) expect(await countKept(fairlead, shards, hashtag)).toBe(KEYS)
})

test('a primary that dies when its standby has gone already loses the writes that only it had, which is reported with a number', async () => {
  await using fairlead = await startFairlead({
    serverMain: join(import.meta.dirname, '../../support/crash-main.ts'),
  })
  const { api, server } = fairlead
  const { uid, action_uid } = await api.createDatabase({
    body: { name: 'gone', memory_size: 0, engine_version: from },
  })
  await fairlead.untilEnded(action_uid)
  await server.end('SIGTERM')
  await server.start({ CRASH_WHEN: 'after remove-shard' })
  const body = { engine_version: to }
  const { action_uid: upgrade = '' } = await api.upgradeDatabase({ params: { uid }, body })
  await server.ended

  const shards = readdirSync(join(fairlead.home, 'shards')).map((name) => Number(name.slice(1)))
  const primary = await until('the standby has ended, and the primary is left', async () => {
    const roles = await Promise.all(shards.map((shard) => roleOf(fairlead, shard)))
    return roles.filter((role) => role !== 'none').length === 1 ? shards[roles.indexOf('primary')] : undefined
  })
  {
    using engine = await asAdmin(fairlead, primary)
    await engine.call('EVAL', WRITE, 1, '{kept}', KEYS)
  }
  process.kill(await pidOf(fairlead, primary), 'SIGKILL')
  await server.start()
  const action = await fairlead.untilEnded(upgrade)
  expect(action.status, `${action.error} ${lastWordsOf(fairlead)}`).toBe('completed')
  expect(action.warnings).toHaveLength(1)
  expect(await lossesOf(fairlead, uid)).toMatchObject([
    { type: 'bdb_primary_lost_memory', lost_bytes: expect.stringMatching(/^[1-9]\d*$/) },
  ])
})

async function roleOf(fairlead: Fairlead, shard: number): Promise<'primary' | 'replica' | 'none'> {
  try {
    using engine = await asAdmin(fairlead, shard)
    return readReplication(await engine.info('replication')).role
  } catch {
    return 'none'
  }
}

/** Writes keys to each primary whose standby still follows, and so gets all of them. */
async function writeToAll(fairlead: Fairlead): Promise<readonly Victim[]> {
  const shards = readdirSync(join(fairlead.home, 'shards')).map((name) => Number(name.slice(1)))
  const written = await Promise.all(shards.map((shard) => writeTo(fairlead, shard)))
  return written.flatMap((one) => one ?? [])
}

interface Victim {
  readonly pid: number
  readonly hashtag: string
}

async function writeTo(fairlead: Fairlead, shard: number): Promise<Victim | undefined> {
  using engine = await asAdmin(fairlead, shard)
  if (readReplication(await engine.info('replication')).role !== 'primary') return undefined
  const hashtag = await until("one of the keys is this shard's", () =>
    hashtags.reduce<Promise<string | null>>(
      async (before, tag) =>
        (await before) ??
        engine.call('SET', `{${tag}}`, 1).then(
          () => tag,
          () => null,
        ),
      Promise.resolve(null),
    ),
  )
  await engine.call('EVAL', WRITE, 1, `{${hashtag}}`, KEYS)
  if ((await engine.call('WAIT', 1, 2_000)) !== 1) return undefined
  return { pid: await pidOf(fairlead, shard), hashtag }
}

/** In cluster mode with two groups the first has one of them (slot 2022), the second the other. */
const hashtags = ['kept', 'foo']
const WRITE = "for n = 1, ARGV[1] do redis.call('SET', KEYS[1] .. n, n) end"

/** How many of the keys the present primaries have. */
async function countKept(
  fairlead: Fairlead,
  shards: readonly { readonly uid: string }[],
  hashtag: string,
): Promise<number> {
  const found = await Promise.all(
    shards.map(async ({ uid }) => {
      using engine = await asAdmin(fairlead, Number(uid))
      const keys = Array.from({ length: KEYS }, (_, n) => `{${hashtag}}${n + 1}`)
      return Number(await engine.call('EXISTS', ...keys).catch(() => 0))
    }),
  )
  return found.reduce((sum, one) => sum + one, 0)
}
