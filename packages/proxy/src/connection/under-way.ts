import { isBetweenRequests } from '@fairlead/engine'
import type { Connection } from './connection.ts'
import type { Link } from './link.ts'

/**
 * True if the long request that is being read is partly forwarded: the rest must follow, or the whole request
 * must be sent elsewhere.
 */
export function isPartlySent({ input: { requests, begun } }: Connection): boolean {
  return begun.length === 0 && !isBetweenRequests(requests)
}

/**
 * True if the request that is being read is partly forwarded and not kept: it must end at the same engine.
 */
export function isTied(connection: Connection): boolean {
  return connection.input.part === null && isPartlySent(connection)
}

/** True if every request is answered. */
export function isAnswered(link: Link): boolean {
  return link.sent === link.answered && !link.unproven
}

/** True if at most one blocking command is pending. */
export function isOnlyBlocked({ link, input: { blocked } }: Connection): boolean {
  return blocked && link !== null && link.sent - link.answered <= 1 && !link.unproven
}
