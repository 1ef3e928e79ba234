import { expect } from 'vitest'
import { createDatabase } from '../../proof/create-database.ts'
import { freshName } from '../../proof/fresh-name.ts'
import { asAdmin, pidOf } from '../../proof/roles.ts'
import type { Fairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'
import { changeInUpgrades } from '../support/keep-changing.ts'
import { test } from '../support/shared-fairlead.ts'

const MB = 1_000_000
/** The part of an engine's limit beside its clients', with Fairlead's usual backlog. */
const OURS = 66.5 * 1024 * 1024
const both = Array.from({ length: 2 }, () => `${30 * MB + OURS} allkeys-lfu`)

test('memory_size and eviction_policy are in force on every shard without a restart, and in each process that comes later', async ({
  fairlead,
}) => {
  const body = { name: freshName('limits'), memory_size: 20 * MB, eviction_policy: 'noeviction' as const }
  const params = { uid: (await createDatabase(fairlead, body)).uid }
  const shardsOf = async () =>
    (await fairlead.api.listDatabaseShards({ params })).map((shard) => Number(shard.uid))
  const limits = async () => Promise.all((await shardsOf()).map((shard) => limitsOf(fairlead, shard)))
  const pids = async () => Promise.all((await shardsOf()).map((shard) => pidOf(fairlead, shard)))
  const before = await pids()
  const change = { memory_size: 30 * MB, eviction_policy: 'allkeys-lfu' as const }
  expect(await fairlead.api.updateDatabase({ params, query: {}, body: change })).toMatchObject({
    ...params,
    ...change,
    status: 'active',
  })
  await until('both have it', async () => (await limits()).join() === both.join())
  expect(await pids()).toEqual(before)
  const { action_uid } = await fairlead.api.upgradeDatabase({ params, body: { force_restart: true } })
  expect(await fairlead.untilEnded(action_uid)).toMatchObject({ status: 'completed', warnings: [] })
  expect(await limits()).toEqual(both)
})

test('users and settings that are changed while upgrades run are true afterwards', ({ fairlead }) =>
  changeInUpgrades(fairlead, { shards_count: 1, everyMs: 50 }))

/** "80000000 noeviction" */
async function limitsOf(at: Fairlead, shard: number): Promise<string> {
  using admin = await asAdmin(at, shard)
  const info = await admin.info('memory')
  return ['maxmemory', 'maxmemory_policy']
    .map((name) => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1])
    .join(' ')
}
