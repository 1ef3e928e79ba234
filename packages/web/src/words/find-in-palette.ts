import type { Action } from '@fairlead/api'
import { whatItDoes } from './describe-action.ts'
import { buttonOf, orderNames } from './orders.ts'

/** A result of the palette. */
export interface Found {
  readonly to: string
  readonly kind: string
  readonly label: string
}

/** Returns whether each word is in the label, or a whole word of the kind: parts of a kind match too much. */
export function fits(entered: string, { label, kind }: Found): boolean {
  const text = label.toLowerCase()
  return entered
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word) || kind.split(' ').includes(word))
}

/** An action, and its possible orders: each leads to the page that explains it and asks. */
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
