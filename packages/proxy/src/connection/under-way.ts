import { isBetweenRequests } from '@fairlead/engine'
import type { Connection } from './connection.ts'
import type { Link } from './link.ts'

/** Of the request that is being read, a long one, a part is forwarded: the rest has to go the same way. */
export function isPartlySent({ requests, begun }: Connection): boolean {
  return begun.length === 0 && !isBetweenRequests(requests)
}

/** Nothing is asked that is not answered. */
export function isAnswered(link: Link): boolean {
  return link.sent === link.answered && !link.unproven
}

/** What is under way, if anything is, is one blocking command. */
export function isOnlyBlocked({ blocked, link }: Connection): boolean {
  return blocked && link !== null && link.sent - link.answered <= 1 && !link.unproven
}
