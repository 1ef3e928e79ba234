import { expect } from 'vitest'
import { createDatabase } from '../../proof/create-database.ts'
import { usualPair } from '../../proof/engine-pairs.ts'
import { freshName } from '../../proof/fresh-name.ts'
import { test } from '../support/shared-fairlead.ts'

const { from, to } = usualPair()

test.for([
  ['a database', {}],
  ['a sharded database', { shards_count: 2 }],
] as const)(
  'a dry run of an upgrade of %s predicts its steps, and changes nothing',
  async ([, shape], { fairlead }) => {
    const { api } = fairlead
    const { uid, shard_list } = await createDatabase(fairlead, {
      name: freshName('foreseen'),
      memory_size: 0,
      engine_version: from,
      ...shape,
    })
    const body = { engine_version: to }
    const foreseen = await api.upgradeDatabase({ params: { uid }, query: { dry_run: '' }, body })
    expect(foreseen).not.toHaveProperty('action_uid')
    expect(foreseen.plan).toMatchObject({ change: true, outage_ms: 0, trial: { ok: true } })
    expect(await api.getDatabase({ params: { uid } })).toMatchObject({ status: 'active', shard_list })

    const { action_uid } = await api.upgradeDatabase({ params: { uid }, body })
    const { outcome, lanes, certificates } = await fairlead.untilEnded(action_uid)
    expect(outcome).toBe('completed')
    expect(certificates).toHaveLength(foreseen.plan?.handovers ?? 0)
    expect(onShards(lanes)).toEqual(onShards(foreseen.plan?.lanes))
  },
)

/** The steps of each group on shards and their roles, without those of records and of gossip. */
function onShards(lanes: readonly { readonly steps: readonly { readonly op_name: string }[] }[] = []) {
  const counted = ['add-shard', 'hand-over', 'seal-handover', 'restart-shard', 'retire-shard']
  return lanes.map(({ steps }) =>
    steps.map(({ op_name }) => op_name).filter((name) => counted.includes(name)),
  )
}
