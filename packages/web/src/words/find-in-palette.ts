import { type Action, actionKinds } from '@fairlead/api'
import { whatItDoes } from './describe-action.ts'
import { buttonOf, orderNames } from './orders.ts'

/** A result of the palette. */
export interface Found {
  readonly to: string
  readonly kind: string
  readonly label: string
  /** Words that are not shown, and find it, too. */
  readonly also?: string
}

/** Returns whether each word is in the label, or a whole word of the kind: parts of a kind match too much. */
export function fits(entered: string, { label, kind, also = '' }: Found): boolean {
  const text = `${label} ${also}`.toLowerCase()
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
      also: actionKinds[action.name].label,
    },
    ...orders,
  ]
}

interface KnownDatabase {
  readonly uid: number
  readonly name: string
  readonly action_uid?: string | undefined
}

/** A database, and the plan of its upgrade while nothing else changes it. */
export function foundOfDatabase(
  { uid, name, action_uid: running }: KnownDatabase,
  mayUpgrade: boolean,
): readonly Found[] {
  const to = `/databases/${uid}`
  const plan = { to: `${to}/upgrade`, kind: 'plan', label: `Upgrade ${name}…` }
  return [{ to, kind: 'database', label: name }, ...(mayUpgrade && running === undefined ? [plan] : [])]
}
