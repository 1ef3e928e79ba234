import type { Shard } from '@fairlead/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshName } from '../../../proof/fresh-name.ts'
import { asAdmin, lastWordsOf, pidOf, rolesOf } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

let fairlead: Fairlead
beforeAll(async () => {
  fairlead = await startFairlead()
})
afterAll(() => fairlead[Symbol.asyncDispose]())

describe('when a primary dies while one of its followers hangs, the other one takes over without waiting for it,', () => {
  test.concurrent.each([
    ['in a database of one group', 1],
    ['in cluster mode', 2],
  ])('%s', async (_, groups) => {
    const { api } = fairlead
    const { uid, action_uid } = await api.createDatabase({
      body: { name: freshName('hangs'), memory_size: 0, replication: true, shards_count: groups },
    })
    await fairlead.untilEnded(action_uid)
    const body = { force_restart: true, rollback_window: 'until_finalized' as const }
    const { action_uid: upgrade = '' } = await api.upgradeDatabase({ params: { uid }, body })
    await until('it waits to be finalized', async () => {
      // Before that the old primary may follow already while the record does not say so yet: such a shard is
      // waited for.
      const { hold_reason } = await api.getAction({ params: { uid: upgrade } })
      return hold_reason === 'until_finalized' && (await isWhole(uid, groups))
    })

    // The first group: the new primary, and its two followers.
    const [primary, hung, other] = (await firstGroup(uid)).map((one) => Number(one.uid))
    if (primary === undefined || hung === undefined || other === undefined)
      throw new Error('a group of three')
    {
      using admin = await asAdmin(fairlead, primary)
      await admin.call('SET', keyOfFirst, 'yes')
      expect(await admin.call('WAIT', 2, 2_000)).toBe(2)
    }
    const [stopped, killed] = [await pidOf(fairlead, hung), await pidOf(fairlead, primary)]
    process.kill(stopped, 'SIGSTOP')
    process.kill(killed, 'SIGKILL')
    try {
      await until('the other one is the primary on record', async () => {
        const shards = await firstGroup(uid)
        return Number(shards.find(({ role }) => role === 'master')?.uid) === other
      })
      // Taken for hung, which is 20 s later at the earliest, it would have been killed.
      expect(() => process.kill(stopped, 0), lastWordsOf(fairlead)).not.toThrow()
    } finally {
      process.kill(stopped, 'SIGCONT')
    }
    await until('all follow', () => isWhole(uid, groups))
    using admin = await asAdmin(fairlead, other)
    expect(await admin.call('GET', keyOfFirst)).toBe('yes')
  })
})

/** A key that the first group has in cluster mode (slot 2022). */
const keyOfFirst = 'kept'

/** The primary first. */
async function firstGroup(uid: number): Promise<readonly Shard[]> {
  const shards = await fairlead.api.listDatabaseShards({ params: { uid } })
  const [first] = shards
    .map(({ assigned_slots: slots }) => slots)
    .toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
  return shards
    .filter(({ assigned_slots: slots }) => slots === first)
    .toSorted((a, b) => a.role.localeCompare(b.role))
}

async function isWhole(uid: number, groups: number): Promise<boolean> {
  const all = ['primary', 'replica', 'replica'].flatMap((role) => Array(groups).fill(role) as string[])
  if ((await rolesOf(fairlead, uid)).join() !== all.toSorted().join()) return false
  const shards = await fairlead.api.listDatabaseShards({ params: { uid } })
  const links = await Promise.all(
    shards.map(async (shard) => {
      using admin = await asAdmin(fairlead, Number(shard.uid))
      const info = await admin.info('replication')
      return info.includes('role:master') || info.includes('master_link_status:up')
    }),
  )
  return links.every(Boolean)
}
