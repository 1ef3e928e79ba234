import { LEAST_BACKLOG_BYTES } from './backlog-bytes.ts'
import { engineOverhead } from './engine-memory.ts'
import { isLive, type ObservedGroup } from './topology.ts'

/** A full engine holds slightly more than its limit; a report above twice the limit is not believed. */
const MOST_OF_LIMIT = 2

/**
 * Returns the bytes of a group's data without backlogs, in its fullest answering shard. An engine may report
 * any number, and this much is reserved for its successor, so it counts only up to twice the limit.
 */
export function dataBytes({ shards, limits }: Pick<ObservedGroup, 'shards' | 'limits'>): number {
  const told = Math.max(0, ...shards.filter(isLive).map(({ engine }) => engine.memory.dataBytes))
  return limits.shareBytes === 0 ? told : Math.min(told, MOST_OF_LIMIT * limits.shareBytes)
}

/**
 * Returns the maximum bytes of an additional shard: the data with room to receive it, and a backlog like the
 * largest in the group, which it gets before it takes over.
 */
export function surgeBytes(group: Pick<ObservedGroup, 'shards' | 'limits'>): number {
  const backlogs = group.shards.filter(isLive).map(({ engine }) => engine.memory.backlogBytes)
  return (
    Math.ceil(dataBytes(group) * 1.25) +
    engineOverhead(Math.max(LEAST_BACKLOG_BYTES, ...backlogs)) +
    AIR_BYTES
  )
}

/** An empty engine, and a reserve. */
export const AIR_BYTES = 30 * 1024 * 1024
