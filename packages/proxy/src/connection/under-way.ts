import { isBetweenRequests } from '@fairlead/engine'
import type { Connection } from './connection.ts'
import type { Link } from './link.ts'

/** Whether a part of the request that is being read, a long one, is forwarded: the rest has to go the same way, or the whole request another way. */
export function isPartlySent({ requests, begun }: Connection): boolean {
  return begun.length === 0 && !isBetweenRequests(requests)
}

/** Whether a part of the request that is being read is forwarded, and not kept: the request has to end at the engine where it began. */
export function isTied(connection: Connection): boolean {
  return connection.part === null && isPartlySent(connection)
}

/** Whether every request is answered. */
export function isAnswered(link: Link): boolean {
  return link.sent === link.answered && !link.unproven
}

/** Whether nothing is under way, except perhaps one blocking command. */
export function isOnlyBlocked({ blocked, link }: Connection): boolean {
  return blocked && link !== null && link.sent - link.answered <= 1 && !link.unproven
}
