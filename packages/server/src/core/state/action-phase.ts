import type { ActionOutcome, ActionPhase } from '@fairlead/api'
import type { Action } from './action.ts'
import { windowEndsAt } from './orders.ts'

/** The part of an action that its phase depends on. */
export type Standing = Pick<
  Action,
  'kind' | 'status' | 'goal' | 'orders' | 'handedOverAt' | 'waiting' | 'handingOver'
>

/** Where an action is, at `nowMs` (Unix time): exactly one phase. What only a person can mend comes before what a person has asked for. */
export function phaseOf(action: Standing, nowMs: number): ActionPhase {
  const { kind, status, orders, waiting } = action
  if (status === 'done' || status === 'failed') return 'ended'
  if (status === 'queued') return 'queued'
  if (waiting?.stuck) return 'stuck'
  if (orders.paused) return 'paused'
  if (isUndoing(action)) return 'undoing'
  if (kind === 'delete') return 'finishing'
  if (kind === 'create') return 'preparing'
  if (action.handedOverAt !== null) return isWindowOpen(action, nowMs) ? 'window' : 'finishing'
  if (waiting?.code === 'supervised') return 'ready'
  return action.handingOver ? 'handing_over' : 'preparing'
}

/** Whether it undoes what it began. */
export function isUndoing({ kind, goal }: Pick<Action, 'kind' | 'goal'>): boolean {
  return goal.undo || (goal.kind === 'remove' && kind !== 'delete')
}

/** Every group has handed over, and the old primaries stay as standbys. */
function isWindowOpen({ goal, orders, handedOverAt }: Standing, nowMs: number): boolean {
  if (handedOverAt === null || orders.finalize || goal.policy.rollbackWindow === 0) return false
  const endsAt = windowEndsAt(goal, handedOverAt)
  return endsAt === null || nowMs < endsAt
}

/** When the window ends by itself, ISO 8601; null where it does not, or is not open. */
export function windowEndsOf(
  action: Pick<Action, 'status' | 'goal' | 'orders' | 'handedOverAt'>,
): string | null {
  const { status, goal, orders, handedOverAt } = action
  if (status !== 'running' || goal.undo || orders.finalize || handedOverAt === null) return null
  const endsAt = goal.policy.rollbackWindow === 0 ? null : windowEndsAt(goal, handedOverAt)
  return endsAt === null ? null : new Date(endsAt).toISOString()
}

/** How it ended; null while it runs. */
export function outcomeOf({ status, ending }: Pick<Action, 'status' | 'ending'>): ActionOutcome | null {
  if (status === 'done') return 'completed'
  return status === 'failed' ? (ending ?? 'failed') : null
}
