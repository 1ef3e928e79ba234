import type { Database } from './database.ts'

/**
 * An engine's `maxmemory` includes more than its clients' data, namely the replication backlog. That is added
 * to the memory of the database; only this file defines how much.
 */

/** Limits that a database grants to one shard. */
export interface Limits {
  /** Bytes for its clients: data, connections, and the megabyte of an empty engine; 0 is unlimited. */
  readonly shareBytes: number
  readonly evictionPolicy: string
}

/** Each group has its share of the database's limit. */
export function limitsOf({
  memoryBytes,
  groups,
  evictionPolicy,
}: Pick<Database, 'memoryBytes' | 'groups' | 'evictionPolicy'>): Limits {
  return { shareBytes: Math.floor(memoryBytes / groups.length), evictionPolicy }
}

/** Returns the `maxmemory` that leaves `shareBytes` to clients, with this backlog (0: none). 0: unlimited. */
export function engineLimit(shareBytes: number, backlogBytes: number): number {
  return shareBytes === 0 ? 0 : shareBytes + engineOverhead(backlogBytes)
}

/**
 * Returns the maximum bytes that replication and Fairlead take in an engine with a backlog of this size. The
 * backlog is kept in blocks with headers: 1/256 of it, measured on Redis 7.0 and 8.0, Valkey 8.0, 8.1 and
 * 9.1; twice that is added. (The engines' mem_not_counted_for_evict excludes what replicas need beyond that.)
 */
export function engineOverhead(backlogBytes: number): number {
  return backlogBytes + Math.ceil(backlogBytes / 128) + OURS_BYTES
}

/** Links to replicas (90 KB each), connections of server and agent (40 KB) with answers, the cluster bus. */
const OURS_BYTES = 2 * 1024 * 1024
