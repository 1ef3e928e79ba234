import type { Database } from './database.ts'

/**
 * `maxmemory` of an engine counts more than its clients' data: it includes the backlog of replication. That memory is for replication,
 * so it is added to the memory of the database. Only this file says how much.
 */

/** The limits that a database grants to one shard. */
export interface Limits {
  /** For its clients: data, connections, and the megabyte that an empty engine takes. Bytes; 0 is unlimited. */
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

/** The `maxmemory` that leaves `shareBytes` to clients beside a backlog of this size (0: no backlog). Bytes; 0 is unlimited. */
export function engineLimit(shareBytes: number, backlogBytes: number): number {
  return shareBytes === 0 ? 0 : shareBytes + engineOverhead(backlogBytes)
}

/**
 * How much of an engine's memory replication and Fairlead take at most, in bytes, with a backlog of this size: the backlog is kept in
 * blocks with a head each (1/256 of it, measured on redis 7.0 and 8.0, valkey 8.0, 8.1 and 9.1 alike; the engines' own
 * mem_not_counted_for_evict excludes what replicas need beyond that). Twice that share is added here.
 */
export function engineOverhead(backlogBytes: number): number {
  return backlogBytes + Math.ceil(backlogBytes / 128) + OURS_BYTES
}

/** Links to replicas (90 KB each), connections of server and agent (40 KB), answers to them, the bus of cluster mode. */
const OURS_BYTES = 2 * 1024 * 1024
