import { type Action, type OrderName, orderWords } from '@fairlead/api'
import { runsOf } from './describe-action.ts'

/** The orders, in the order of their buttons. */
export const orderNames = [
  'resume',
  'pause',
  'retry',
  'redo',
  'rollback',
  'finalize',
  'cancel',
] as const satisfies readonly OrderName[]

/** Returns whether the order needs a confirmation: it ends a way, or begins an upgrade again. */
export function isAskedAbout(order: OrderName, { phase }: Pick<Action, 'phase'>): boolean {
  return (
    order === 'redo' ||
    order === 'rollback' ||
    order === 'finalize' ||
    order === 'cancel' ||
    (order === 'retry' && phase === 'ended')
  )
}

/** The text of the button, with its effect if one word suffices. */
export function buttonOf(order: OrderName, { from, goal }: Pick<Action, 'from' | 'goal'>): string {
  if (order === 'rollback' && from !== null) return `Roll back to ${runsOf(from)}`
  if (order === 'finalize' && goal !== null) return `Finalize: stay on ${runsOf(goal)}`
  // In a question, a bare "Cancel" would look like the way out of it.
  if (order === 'cancel') return 'Cancel the upgrade'
  return orderWords[order].label
}

/** The text of the button that changes nothing. */
export function wayOutOf(order: OrderName): string {
  if (order === 'retry') return 'Leave it'
  if (order === 'rollback') return 'Stay as it is'
  if (order === 'redo') return 'Keep taking it back'
  return order === 'finalize' ? 'Keep the way back' : 'Keep going'
}
