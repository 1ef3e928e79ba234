import type { ActionOutcome, RollbackObstacle } from '@fairlead/api'
import type { Action, Certificate } from './action.ts'
import { isUndoing, outcomeOf, windowEndsOf } from './action-phase.ts'
import type { LanePatch } from './lane-record.ts'

/** A change of an action's visible state. Applied in order, the changes give that state. */
export type ActionChange = Partial<
  Pick<
    Action,
    | 'status'
    | 'progress'
    | 'step'
    | 'holdReason'
    | 'waitingFor'
    | 'needsPerson'
    | 'error'
    | 'phase'
    | 'waiting'
    | 'beganAt'
    | 'endedAt'
  > & {
    readonly outcome: ActionOutcome | null
    readonly windowEnds: string | null
    /** True if the action is being undone. */
    readonly undo: boolean
    readonly paused: boolean
    /** If it can be rolled back now, the obstacle, and the reason in words. */
    readonly eligible: boolean
    readonly rollbackObstacle: RollbackObstacle | null
    readonly reason: string
    /** One per line. */
    readonly warnings: string
  }
>

/** A notice about an action: it changed, its lanes did, or a handover was proven for it. */
export type ActionNotice =
  | { readonly type: 'action'; readonly change: ActionChange }
  | { readonly type: 'lanes'; readonly lanes: readonly LanePatch[] }
  | { readonly type: 'handover'; readonly certificate: Certificate }

/** A recorded notice. `seq` rises over all actions. */
export type ActionEvent = ActionNotice & {
  readonly seq: number
  readonly actionUid: string
  readonly at: string
}

/** Returns the part of an action that events report: all visible fields except lanes and future steps. */
export function visibleOf(action: Action): Required<ActionChange> {
  const { status, progress, step, holdReason, waitingFor, needsPerson } = action
  const { error, orders, wayBack, phase, waiting, beganAt, endedAt } = action
  return {
    status,
    progress,
    step,
    holdReason,
    waitingFor,
    needsPerson,
    error,
    phase,
    waiting,
    beganAt,
    endedAt,
    outcome: outcomeOf(action),
    windowEnds: windowEndsOf(action),
    undo: isUndoing(action),
    paused: orders.paused,
    eligible: wayBack?.eligible ?? false,
    rollbackObstacle: wayBack?.obstacle ?? null,
    reason: wayBack?.reason ?? '',
    warnings: action.warnings.join('\n'),
  }
}

/** Returns the visible changes from `before` to `after`, or undefined. */
export function changeOf(before: ActionChange, after: ActionChange): ActionChange | undefined {
  const keys = Object.keys(after) as (keyof ActionChange)[]
  const changed = keys.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
  if (changed.length === 0) return undefined
  return Object.fromEntries(changed.map((key) => [key, after[key]]))
}

/** True if the action is final. */
export function hasEnded({ status }: Pick<Action, 'status'>): boolean {
  return status === 'done' || status === 'failed'
}
