import { LEAST_BACKLOG_BYTES } from './backlog-bytes.ts'
import { engineOverhead } from './engine-memory.ts'
import { isLive, type ObservedGroup } from './topology.ts'

/** A full engine holds a little more than its limit; a report of more than twice the limit is not believed. */
const MOST_OF_LIMIT = 2

/**
 * The memory that the data of a group takes now, in bytes, without backlogs: in the fullest of its shards that answer. An engine may
 * report any number, and this much memory is reserved for its successor: so it counts only up to twice the engine's limit.
 */
export function dataBytes({ shards, limits }: Pick<ObservedGroup, 'shards' | 'limits'>): number {
  const told = Math.max(0, ...shards.filter(isLive).map(({ engine }) => engine.memory.dataBytes))
  return limits.shareBytes === 0 ? told : Math.min(told, MOST_OF_LIMIT * limits.shareBytes)
}

/**
 * The most memory that a further shard of the group takes, in bytes: the data with room to receive it, and a backlog as large as the
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
