import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { startLoaded, upgradeWithKill } from '../../support/killed-upgrade.ts'

let fairlead: Fairlead
beforeAll(async () => {
  fairlead = await startFairlead({ serverMain: join(import.meta.dirname, '../../support/crash-main.ts') })
})
afterAll(() => fairlead[Symbol.asyncDispose]())

/** Parts of the first group, by their number among all shards: primaries, replicas, successors. */
const [oldPrimary, sibling, successor] = [() => 0, (groups: number) => groups, (groups: number) => 2 * groups]
const cases = [
  // The pause may still hold writes that the successor has not received: these are not acknowledged.
  { part: 'the old primary', place: oldPrimary, when: 'after pause', mayLose: true, groups: 1 },
  { part: 'the old primary', place: oldPrimary, when: 'after demote', mayLose: false, groups: 1 },
  { part: 'the old primary', place: oldPrimary, when: 'after promote', mayLose: false, groups: 1 },
  { part: 'a sibling', place: sibling, when: 'after pause', mayLose: false, groups: 1 },
  // The old primary has stepped down, and becomes primary again: the successor never served, and no loss is
  // reported.
  { part: 'the successor', place: successor, when: 'before demote', mayLose: false, groups: 1 },
  { part: 'the old primary', place: oldPrimary, when: 'after pause', mayLose: true, groups: 3 },
  { part: 'the old primary', place: oldPrimary, when: 'after promote', mayLose: false, groups: 3 },
  { part: 'a sibling', place: sibling, when: 'after pause', mayLose: false, groups: 3 },
  { part: 'the successor', place: successor, when: 'after pause', mayLose: false, groups: 3 },
] as const

test.each(cases)(
  '$part dies $when in the handover of one of $groups groups: one primary is left, and the upgrade goes on',
  async ({ part, place, when, mayLose, groups }) => {
    await using loaded = await startLoaded(fairlead, { groups, oss_cluster: groups > 1 })
    const { shard_list } = await fairlead.api.getDatabase({ params: { uid: loaded.uid } })
    const action = await upgradeWithKill(loaded, {
      victim: `s${Math.min(...shard_list) + place(groups)}`,
      when,
    })
    expect(action).toMatchObject({ status: 'completed' })
    await loaded.load.stop()
    const verdict = await loaded.load.readBack()
    expect(verdict).toMatchObject({ duplicated: 0, ...(!mayLose && { lost: 0 }) })
    if (verdict.lost > 0) expect(action.warnings).not.toEqual([])
    if (part === 'the successor') expect(action.warnings).toEqual([])
    await fairlead.untilEnded((await fairlead.api.deleteDatabase({ params: { uid: loaded.uid } })).action_uid)
  },
)
