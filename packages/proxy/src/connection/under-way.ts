import { isBetweenRequests } from '@fairlead/engine'
import type { Connection } from './connection.ts'
import type { Link } from './link.ts'

/** Whether a part of a long request that is being read is forwarded: the rest has to go the same way. */
export function isPartlySent({ requests, begun }: Connection): boolean {
  return begun.length === 0 && !isBetweenRequests(requests)
}

/** Whether every request is answered. */
export function isAnswered(link: Link): boolean {
  return link.sent === link.answered && !link.unproven
}

/** Whether nothing is under way, except perhaps one blocking command. */
export function isOnlyBlocked({ blocked, link }: Connection): boolean {
  return blocked && link !== null && link.sent - link.answered <= 1 && !link.unproven
}
