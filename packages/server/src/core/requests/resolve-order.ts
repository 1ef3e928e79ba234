import type { HoldReason } from '@fairlead/api'
import { whyPaused } from '../plan/plan-database.ts'
import { type Action, undoGoal } from '../state/action.ts'
import type { Refused } from '../state/refused.ts'

/** The orders that people may give about a running upgrade. `retry` of an upgrade that has ended is a new action. */
export type Order = 'pause' | 'resume' | 'cancel' | 'rollback' | 'finalize' | 'redo' | 'retry'

/** The changes that an order makes to an action. Empty: only begin the next turn at once. */
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

/** The name of the user who gives an order, and when (ISO 8601). */
export interface Given {
  readonly by: string
  readonly at: string
}

/**
 * The change that an order makes to a running upgrade, or the reason why it makes none.
 *
 * Taking back is the same plan with the old revision as the goal (undoGoal), at any moment; to undo that is
 * the same plan with the accepted goal.
 */
export function resolveOrder(action: Action, order: Order, { by, at }: Given): OrderedChange | Refused {
  const { goal, orders } = action
  if (action.kind !== 'upgrade') return notApplicable(`a ${action.kind} takes no orders; only upgrades do`)
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
      // An order of its own turns it round: given twice, because an answer was lost, or by two users at once, this one still means the same.
      return goal.undo ? notApplicable('it is being taken back already') : takeBack(action, order, by)
    case 'redo':
      return goal.undo ? turnRound(action) : notApplicable('it is not being taken back')
    case 'retry':
      return tryAgain(action)
  }
}

/** Only what is blocked can be tried again. Where it waits for an order, or for the end of the window, another look changes nothing. */
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

/** What waited for a user or for the window waits for the end of the pause from now on. What waits for a shard may go on: that is up to the next turn. */
function waitsAsPaused({ waiting }: Action, at: string): OrderedChange {
  if (waiting === null || waysOut[waiting.code] === undefined) return {}
  const plain = { shard: null, until: null, stuck: false }
  return {
    ...{ holdReason: 'paused', waitingFor: whyPaused, needsPerson: true },
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

/** The accepted goal, and the present one. */
function describeTakenBack({ handedOverAt, goal }: Action, order: 'cancel' | 'rollback'): string {
  if (order === 'cancel')
    return handedOverAt === null ? 'cancelled' : 'cancelled after the handover, and rolled back'
  if (handedOverAt !== null) return 'rolled back'
  return goal.groups === 1 ? 'rolled back before the handover' : 'rolled back before the last handover'
}

/** The goal as it was accepted: everything that was taken back until now is done again. */
function turnRound({ asked, orders }: Action): OrderedChange {
  return {
    ...{ goal: asked, orders: { ...orders, paused: false }, error: null, ending: null, handedOverAt: null },
    ...nothingAwaited,
  }
}

/**
 * Completes an upgrade whose rollback is stuck because the former build cannot take over the data of the target. Refuses
 * while the rollback may still succeed.
 */
function completeInstead(action: Action): OrderedChange | Refused {
  const { waiting, orders } = action
  if (waiting?.stuck !== true || !cannotTakeOver.has(waiting.code))
    return notApplicable('it is being taken back; redo turns it round, and then it can be finalized')
  return { ...turnRound(action), orders: { ...orders, paused: false, finalize: true } }
}

const cannotTakeOver: ReadonlySet<HoldReason> = new Set(['cannot_read', 'data_differs'])

/** An action that waited for just this order does not wait any more; what the next turn finds is on record then. */
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
