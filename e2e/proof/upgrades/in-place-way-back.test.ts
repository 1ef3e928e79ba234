import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDatabase } from '../../../proof/create-database.ts'
import { build } from '../../../proof/engine-pairs.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { untilAction } from '../../../proof/way-back.ts'

/** Redis before 7.2 has no ids for the shards of a cluster. */
const from = build('redis', '7.0')
const pairs = [build('valkey', '8.1'), build('redis', '8.0')]

describe.each(pairs)('a sharded database whose shards were upgraded in place to %s', (to) => {
  let fairlead: Fairlead
  beforeEach(async () => {
    // Two groups with a replica each, and no room for a further shard.
    fairlead = await startFairlead({ env: { FAIRLEAD_NODE_MEMORY_MB: '130' } })
  })
  afterEach(() => fairlead[Symbol.asyncDispose]())

  test.each([false, true])('goes back, and is finalized (preserve_roles: %s)', async (preserve_roles) => {
    const body = { name: 'in-place', memory_size: 60_000_000, shards_count: 2, engine_version: from }
    const params = { uid: (await createDatabase(fairlead, body)).uid }
    const upgrade = async () => {
      const body = { engine_version: to, preserve_roles, rollback_window: 'until_finalized' } as const
      const { action_uid: uid = '' } = await fairlead.api.upgradeDatabase({ params, body })
      await untilAction(
        fairlead,
        uid,
        'it can go back',
        ({ phase, orders }) => phase === 'window' && orders.rollback.ok,
      )
      return uid
    }
    const first = await upgrade()
    await fairlead.api.rollbackAction({ params: { uid: first } })
    const back = await untilAction(fairlead, first, 'it is back', ({ phase }) => phase === 'ended')
    expect(back.certificates.map(({ full_syncs }) => full_syncs)).toEqual(back.certificates.map(() => 0))
    const { engine, engine_version } = await fairlead.api.getDatabase({ params })
    expect(`${engine}-${engine_version}`).toBe(from)

    const second = await upgrade()
    await fairlead.api.finalizeAction({ params: { uid: second } })
    const ended = await untilAction(fairlead, second, 'it is finalized', ({ phase }) => phase === 'ended')
    expect(ended.status).toBe('completed')
  })
})
