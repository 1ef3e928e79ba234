import { isLive, type Seen } from './topology.ts'

/** What the data of a group takes in memory now, in bytes: in the fullest of its shards that answer. */
export function dataBytes({ shards }: Pick<Seen, 'shards'>): number {
  return Math.max(0, ...shards.filter(isLive).map(({ engine }) => engine.usedMemoryBytes))
}

/** What a further shard with this much data takes at most, in bytes. */
export function surgeBytes(data: number): number {
  return Math.ceil(data * 1.25) + SPARE_BYTES
}

/** An empty engine with its 64 MB backlog, and some air. */
export const SPARE_BYTES = 96 * 1024 * 1024
