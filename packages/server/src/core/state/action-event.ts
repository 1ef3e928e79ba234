import type { RollbackObstacle } from '@fairlead/api'
import type { Action, Certificate } from './action.ts'

/** A change of the visible state of an action. Applied in order, the changes give that state. */
export type ActionChange = Partial<
  Pick<Action, 'status' | 'progress' | 'step' | 'holdReason' | 'waitingFor' | 'needsPerson' | 'error'> & {
    /** Whether the action is being undone. */
    readonly undo: boolean
    readonly paused: boolean
    /** Whether it can be rolled back right now, what is in the way, and the reason in words. */
    readonly eligible: boolean
    readonly rollbackObstacle: RollbackObstacle | null
    readonly reason: string
    /** One line each. */
    readonly warnings: string
  }
>

/** What happened to an action: it changed, or a handover was proven for it. */
export type ActionNotice =
  | { readonly type: 'action'; readonly change: ActionChange }
  | { readonly type: 'handover'; readonly certificate: Certificate }

/** A notice on record. `seq` rises over all actions. */
export type ActionEvent = ActionNotice & {
  readonly seq: number
  readonly actionUid: string
  readonly at: string
}

/** The part of an action that events report: everything that people see except the steps to come. */
export function visibleOf(action: Action): Required<ActionChange> {
  const { status, progress, step, holdReason, waitingFor, needsPerson } = action
  const { error, kind, goal, orders, wayBack } = action
  return {
    status,
    progress,
    step,
    holdReason,
    waitingFor,
    needsPerson,
    error,
    undo: goal.undo || (goal.kind === 'remove' && kind !== 'delete'),
    paused: orders.paused,
    eligible: wayBack?.eligible ?? false,
    rollbackObstacle: wayBack?.obstacle ?? null,
    reason: wayBack?.reason ?? '',
    warnings: action.warnings.join('\n'),
  }
}

/** The visible changes from `before` to `after`; undefined: none. */
export function changeOf(before: ActionChange, after: ActionChange): ActionChange | undefined {
  const keys = Object.keys(after) as (keyof ActionChange)[]
  const changed = keys.filter((key) => before[key] !== after[key])
  if (changed.length === 0) return undefined
  return Object.fromEntries(changed.map((key) => [key, after[key]]))
}

/** Whether nothing of this action can change any more. */
export function hasEnded({ status }: Pick<Action, 'status'>): boolean {
  return status === 'done' || status === 'failed'
}
