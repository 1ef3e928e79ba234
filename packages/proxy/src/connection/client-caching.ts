import { wordAt } from '../remembered/command.ts'
import type { Caching } from './caching.ts'
import type { Connection } from './connection.ts'
import type { Link, Noted } from './link.ts'

/** After a request (`head`) has worked, and the connection's state is that after it. */
export function cachingAfter({ caching, state }: Connection, link: Link, head: Noted): Caching | null {
  const { command, at } = head
  const isInside = state.transaction !== null
  if (command.name === 'CLIENT' && wordAt(command, 0) === 'CACHING' && !isInside)
    return { args: command.args, link, at, ofTransaction: false }
  if (caching === null) return null
  if (command.name === 'MULTI' && caching.at === at - 1) return { ...caching, ofTransaction: true }
  return caching.ofTransaction && !isInside ? null : caching
}

/** The CLIENT CACHING that still applies; null if none does. Everything that was forwarded is answered. */
export function cachingNow({ caching, state }: Connection): Caching | null {
  if (caching === null) return null
  const isOpen = caching.ofTransaction ? state.transaction !== null : caching.link.sent === caching.at
  return isOpen ? caching : null
}
