import { BUCKETS } from '@fairlead/api'

/** Tasks for exactly one of all servers. Each has a bucket of its own. */
export const singletons = { 'keep the audit': BUCKETS } as const
/** The name of such a task. */
export type Singleton = keyof typeof singletons

/** The number of leases: their renewal costs the same, however many databases share them. */
export const ALL_BUCKETS = BUCKETS + Object.keys(singletons).length

/** The bucket of a database. Its uid is never given twice. */
export function bucketOf(databaseUid: number): number {
  return databaseUid % BUCKETS
}

/** For how long PostgreSQL keeps a bucket for its holder. */
export const LEASE_MS = 15_000
/** The holder stops that much earlier than others may begin. */
const MARGIN_MS = 3_000

/** Until when a server may rely on a lease that it asked for at `sentAt`, in its own monotonic clock: PostgreSQL begins to count later. */
export function goodUntil(sentAt: number): number {
  return sentAt + LEASE_MS - MARGIN_MS
}

/**
 * How many more buckets a server should have that holds `held`; less than 0: it has that many too many. A server may keep one bucket more than its share, so that
 * no bucket goes back and forth.
 */
export function bucketsToTake(held: number, servers: number): number {
  const share = Math.ceil(ALL_BUCKETS / Math.max(1, servers))
  if (held < share) return share - held
  return Math.min(0, share + 1 - held)
}
