import type { ActionOutcome, ActionPhase } from '@fairlead/api'
import type { Action } from './action.ts'
import { windowEndsAt } from './orders.ts'

/** Fields of an action that determine its phase. */
export type PhaseFields = Pick<
  Action,
  'kind' | 'status' | 'goal' | 'orders' | 'handedOverAt' | 'waiting' | 'handingOver'
>

/** Returns an action's one phase at `nowMs` (Unix ms). Obstacles for a person precede a person's orders. */
export function phaseOf(action: PhaseFields, nowMs: number): ActionPhase {
  const { kind, status, orders, waiting } = action
  if (status === 'done' || status === 'failed') return 'ended'
  if (status === 'queued') return 'queued'
  if (waiting?.stuck) return 'stuck'
  if (orders.paused) return 'paused'
  if (isUndoing(action)) return 'undoing'
  if (kind === 'delete') return 'finishing'
  if (kind === 'create' || kind === 'change') return 'preparing'
  if (action.handedOverAt !== null) return isWindowOpen(action, nowMs) ? 'window' : 'finishing'
  if (waiting?.code === 'supervised') return 'ready'
  return action.handingOver ? 'handing_over' : 'preparing'
}

/** True if it undoes its work. */
export function isUndoing({ kind, goal }: Pick<Action, 'kind' | 'goal'>): boolean {
  return goal.undo || (goal.kind === 'remove' && kind !== 'delete')
}

/** True if every group has handed over and the old primaries stay as standbys. */
function isWindowOpen({ goal, orders, handedOverAt }: PhaseFields, nowMs: number): boolean {
  if (handedOverAt === null || orders.finalize || goal.policy.rollbackWindow === 0) return false
  const endsAt = windowEndsAt(goal, handedOverAt)
  return endsAt === null || nowMs < endsAt
}

/** Returns when the window ends by time (ISO 8601); null if it does not, or is not open. */
export function windowEndsOf(
  action: Pick<Action, 'status' | 'goal' | 'orders' | 'handedOverAt'>,
): string | null {
  const { status, goal, orders, handedOverAt } = action
  if (status !== 'running' || goal.undo || orders.finalize || handedOverAt === null) return null
  const endsAt = goal.policy.rollbackWindow === 0 ? null : windowEndsAt(goal, handedOverAt)
  return endsAt === null ? null : new Date(endsAt).toISOString()
}

/** Returns its end; null while it runs. */
export function outcomeOf({ status, ending }: Pick<Action, 'status' | 'ending'>): ActionOutcome | null {
  if (status === 'done') return 'completed'
  return status === 'failed' ? (ending ?? 'failed') : null
}
