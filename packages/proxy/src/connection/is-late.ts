import type { Connection } from './connection.ts'

/** Era of connections that are late in every era. */
export const BEFORE_ALL = -1

/**
 * True if a connection did not move with the role, because it was idle or its client slow; it follows when
 * its turn comes. Each move of the role begins an era; a connection has the era of its opening or last move.
 */
export function isLate({ owner, move: { era } }: Connection): boolean {
  return era !== owner.era
}
