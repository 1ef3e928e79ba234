import type { Connection } from './connection.ts'

/** The era of connections that are late in every era. */
export const BEFORE_ALL = -1

/**
 * Whether a connection has not moved together with the role, because it was idle, or its client slow: it follows when it is quiet and its turn comes. Each move of the
 * role begins an era. A connection has the era in which it was opened or moved last.
 */
export function isLate({ era, owner }: Connection): boolean {
  return era !== owner.era
}
