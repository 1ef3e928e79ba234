import { BUCKETS } from '@fairlead/api'

/** Tasks for exactly one of all servers. Each has a bucket of its own. */
export const singletons = { 'keep the audit': BUCKETS } as const
/** The name of such a task. */
export type Singleton = keyof typeof singletons

/** Number of leases: their renewal has a constant cost for any number of databases. */
export const ALL_BUCKETS = BUCKETS + Object.keys(singletons).length

/** Returns the bucket of a database. Its uid is never reused. */
export function bucketOf(databaseUid: number): number {
  return databaseUid % BUCKETS
}

/** Time for which PostgreSQL keeps a bucket for its holder. */
export const LEASE_MS = 15_000
/** The holder stops this much earlier than others may begin. */
const MARGIN_MS = 3_000

/** Returns how long a lease requested at `sentAt` (monotonic) is reliable: PostgreSQL counts from later. */
export function goodUntil(sentAt: number): number {
  return sentAt + LEASE_MS - MARGIN_MS
}

/**
 * Returns how many buckets a server with `held` should take; negative: give up. It may keep one more than its
 * share, so that no bucket goes back and forth.
 */
export function bucketsToTake(held: number, servers: number): number {
  const share = Math.ceil(ALL_BUCKETS / Math.max(1, servers))
  if (held < share) return share - held
  return Math.min(0, share + 1 - held)
}
