import { failLane } from '../../core/progress/advance-lane.ts'
import { type Action, undoGoal } from '../../core/state/action.ts'
import type { ActionRecords, Clock, Log } from '../turn/ports.ts'

/**
 * Gives up an unreachable or unwanted goal: the action takes back its work and will end as failed. `group`:
 * the group that has shown it; undefined: none.
 */
export async function giveUpAction(
  action: Action,
  { why, group }: { readonly why: string; readonly group?: number },
  { actions, now, log }: ActionRecords<'lanes' | 'update'> & Clock & Log,
): Promise<void> {
  log.warn({ action: action.uid, database: action.databaseUid, why }, 'an action is given up')
  const at = new Date(now()).toISOString()
  const lanes = group === undefined ? [] : await actions.lanes(action.uid)
  const lane = lanes.find((one) => one.group === group)
  await actions.update(
    action.uid,
    {
      goal: undoGoal(action.goal),
      error: why,
      ending: 'failed',
      handedOverAt: null,
      waiting: null,
      ...(lane !== undefined && { lanes: [failLane(lane, at)] }),
    },
    at,
  )
}
