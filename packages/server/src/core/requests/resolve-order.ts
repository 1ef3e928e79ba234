import type { HoldReason } from '@fairlead/api'
import { whyPaused } from '../plan/plan-database.ts'
import { type Action, undoGoal } from '../state/action.ts'
import type { Refused } from '../state/refused.ts'

/** People's orders for a running upgrade or change. `retry` of an ended upgrade is a new action. */
export type Order = 'pause' | 'resume' | 'cancel' | 'rollback' | 'finalize' | 'redo' | 'retry'

/** Changes of an action by an order. Empty: only begin the next turn immediately. */
export type OrderedChange = Partial<
  Pick<
    Action,
    | 'goal'
    | 'orders'
    | 'error'
    | 'ending'
    | 'handedOverAt'
    | 'step'
    | 'waiting'
    | 'waitingFor'
    | 'holdReason'
    | 'needsPerson'
  >
>

/** Name of the user, and time of the order (ISO 8601). */
export interface Given {
  readonly by: string
  readonly at: string
}

/**
 * Returns the change of a running action by an order, or a refusal. Taking back is the same plan with the
 * old revision as the goal (undoGoal), at any time; undoing that is the same plan with the accepted goal.
 */
export function resolveOrder(action: Action, order: Order, { by, at }: Given): OrderedChange | Refused {
  const { goal, orders } = action
  const taken = takenBy[action.kind]
  if (!taken.includes(order))
    return notApplicable(`a ${action.kind} takes ${taken.join(', ') || 'no orders'}, and not ${order}`)
  switch (order) {
    case 'pause':
      return orders.paused
        ? notApplicable('it is paused already')
        : { orders: { ...orders, paused: true }, ...waitsAsPaused(action, at) }
    case 'resume':
      if (orders.paused) return { orders: { ...orders, paused: false }, ...goesOn(action, ['paused']) }
      if (goal.policy.supervised && !orders.proceed && !goal.undo)
        return { orders: { ...orders, proceed: true }, ...goesOn(action, ['supervised']) }
      return notApplicable('it is neither paused nor stopped for supervision')
    case 'finalize':
      if (goal.undo) return completeInstead(action)
      if (action.handedOverAt === null)
        return notApplicable('there is nothing to finalize before every group has handed over')
      return orders.finalize
        ? notApplicable('it is being finalized already')
        : { orders: { ...orders, finalize: true }, ...goesOn(action, ['until_finalized', 'rollback_window']) }
    case 'cancel':
    case 'rollback':
      // Turning it round is a separate order: repeated after a lost answer, or by two users, this one keeps
      // its meaning.
      return goal.undo ? notApplicable('it is being taken back already') : takeBack(action, order, by)
    case 'redo':
      return goal.undo ? turnRound(action) : notApplicable('it is not being taken back')
    case 'retry':
      return tryAgain(action)
  }
}

const takenBy: Readonly<Record<Action['kind'], readonly Order[]>> = {
  upgrade: ['pause', 'resume', 'cancel', 'rollback', 'finalize', 'redo', 'retry'],
  change: ['pause', 'resume', 'cancel', 'redo', 'retry'],
  create: [],
  delete: [],
}

/** Only a blocked action can be retried: another look does not change a wait for an order or the window. */
function tryAgain({ waiting }: Action): OrderedChange | Refused {
  if (waiting === null) return notApplicable('there is nothing to try again: nothing is blocked just now')
  const wayOut = waysOut[waiting.code]
  if (wayOut !== undefined) return notApplicable(`there is nothing to try again: ${wayOut}`)
  return {}
}

const waysOut: { readonly [Reason in HoldReason]?: string } = {
  paused: 'it is paused; resume it',
  supervised: 'it waits before its first handover, and goes on when a user resumes it',
  until_finalized: 'every group has handed over, and it goes on when a user finalizes it',
  rollback_window:
    'every group has handed over, and it goes on when the window ends, or when a user finalizes it',
}

/** Turns waits for a user or the window into waits for the end of the pause. Waits for a shard stay. */
function waitsAsPaused({ waiting }: Action, at: string): OrderedChange {
  if (waiting === null || waysOut[waiting.code] === undefined) return {}
  const plain = { shard: null, until: null, stuck: false }
  return {
    holdReason: 'paused',
    waitingFor: whyPaused,
    needsPerson: true,
    waiting: { ...plain, on: 'person', code: 'paused', why: whyPaused, since: at },
  }
}

function takeBack(action: Action, order: 'cancel' | 'rollback', by: string): OrderedChange | Refused {
  const { goal, orders, wayBack } = action
  if (wayBack !== null && !wayBack.eligible)
    return {
      refused: 'rollback_not_possible',
      message: `the upgrade cannot be taken back: ${wayBack.reason}`,
    }
  return {
    goal: undoGoal(goal),
    orders: { ...orders, paused: false, finalize: false },
    error: `${describeTakenBack(action, order)}: asked for by ${by}`,
    ending: order === 'cancel' ? 'cancelled' : 'rolled_back',
    handedOverAt: null,
    waiting: null,
    holdReason: 'taken_back',
    waitingFor: `it is being taken back: ${order} was asked for by ${by}`,
    needsPerson: false,
  }
}

/** Describes the accepted and the present goal. */
function describeTakenBack({ handedOverAt, goal }: Action, order: 'cancel' | 'rollback'): string {
  if (order === 'cancel')
    return handedOverAt === null ? 'cancelled' : 'cancelled after the handover, and rolled back'
  if (handedOverAt !== null) return 'rolled back'
  return goal.groups === 1 ? 'rolled back before the handover' : 'rolled back before the last handover'
}

/** Restores the accepted goal: everything taken back so far is done again. */
function turnRound({ asked, orders }: Action): OrderedChange {
  return {
    goal: asked,
    orders: { ...orders, paused: false },
    error: null,
    ending: null,
    handedOverAt: null,
    ...nothingAwaited,
  }
}

/**
 * Completes an upgrade whose rollback is stuck because the former build cannot take over the target's data.
 * Refused while the rollback may still succeed.
 */
function completeInstead(action: Action): OrderedChange | Refused {
  const { waiting, orders } = action
  if (waiting?.stuck !== true || !cannotTakeOver.has(waiting.code))
    return notApplicable('it is being taken back; redo turns it round, and then it can be finalized')
  return { ...turnRound(action), orders: { ...orders, paused: false, finalize: true } }
}

const cannotTakeOver: ReadonlySet<HoldReason> = new Set(['cannot_read', 'data_differs'])

/** Clears the wait for just this order; the next turn records its findings. */
function goesOn({ waiting }: Action, codes: readonly HoldReason[]): OrderedChange {
  return waiting !== null && codes.includes(waiting.code) ? nothingAwaited : {}
}

const nothingAwaited: OrderedChange = {
  step: '',
  waiting: null,
  holdReason: null,
  waitingFor: '',
  needsPerson: false,
}

function notApplicable(message: string): Refused {
  return { refused: 'order_not_applicable', message }
}
