import type { Action } from '@fairlead/api'
import { whatItDoes } from './describe-action.ts'
import { buttonOf, orderNames } from './orders.ts'

/** Something that the palette leads to. */
export interface Found {
  readonly to: string
  readonly kind: string
  readonly label: string
}

/** Whether each word that was entered is in it, or is its kind: parts of that would find everything of a kind. */
export function fits(entered: string, { label, kind }: Found): boolean {
  const text = label.toLowerCase()
  return entered
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word) || kind.split(' ').includes(word))
}

/** An action, and the orders that may be given to it now: each leads to the page of the action, which says what it does and asks. */
export function foundOf(action: Action, name: string): readonly Found[] {
  const to = `/actions/${action.action_uid}`
  const orders = orderNames
    .filter((order) => action.phase !== 'ended' && action.orders[order].ok)
    .map((order) => ({ to, kind: 'order', label: `${name}: ${buttonOf(order, action)}…` }))
  return [
    {
      to,
      kind: action.phase === 'ended' ? 'ended action' : 'action',
      label: `${name}: ${whatItDoes(action)}`,
    },
    ...orders,
  ]
}
