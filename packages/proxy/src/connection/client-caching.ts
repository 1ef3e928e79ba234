import { wordAt } from '../remembered/command.ts'
import type { Caching } from './caching.ts'
import type { Connection } from './connection.ts'
import type { Link, Noted } from './link.ts'

/**
 * Returns the CLIENT CACHING that applies after request `head` has succeeded; the connection already has the
 * state after it.
 */
export function cachingAfter(
  { session: { caching, state } }: Connection,
  link: Link,
  head: Noted,
): Caching | null {
  const { command, at } = head
  const isInside = state.transaction !== null
  if (command.name === 'CLIENT' && wordAt(command, 0) === 'CACHING' && !isInside)
    return { args: command.args, link, at, ofTransaction: false }
  if (caching === null) return null
  if (command.name === 'MULTI' && caching.at === at - 1) return { ...caching, ofTransaction: true }
  return caching.ofTransaction && !isInside ? null : caching
}

/** Returns the CLIENT CACHING that still applies, or null. Everything forwarded is answered. */
export function cachingNow({ session: { caching, state } }: Connection): Caching | null {
  if (caching === null) return null
  const isOpen = caching.ofTransaction ? state.transaction !== null : caching.link.sent === caching.at
  return isOpen ? caching : null
}
