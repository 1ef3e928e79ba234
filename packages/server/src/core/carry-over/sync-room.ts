import type { ObservedGroup } from '../state/topology.ts'
import { isLive } from '../state/topology.ts'

/** Engines' default limit for a lagging replica, which is disconnected beyond it. */
const DEFAULT_BYTES = 256 * 1024 * 1024

/** Fairlead's sizes end like this: no person sets one byte more than a whole number of pages. */
const PAGE_BYTES = 4_096
const MARK = 1

/** Engines' parameter that limits output buffers by client class. */
export const SYNC_SETTING = 'client-output-buffer-limit'

/** Replica class of `client-output-buffer-limit` (bytes, seconds): hard, soft, duration of the soft one. */
export interface ReplicaLimit {
  readonly hardBytes: number
  readonly softBytes: number
  readonly softSeconds: number
}

/** Limit of a shard's process without a full sync. `runId`: of the engine process. */
export interface LimitBefore {
  readonly runId: string
  readonly limit: ReplicaLimit
}

/**
 * Returns how much a primary may buffer (bytes) for a follower in a full sync: three quarters of the node's
 * free memory (without reservations for followers), divided among the syncing groups, at least the engines'
 * default. Null unless a follower takes a full sync, will soon, or is still far behind after one.
 */
export function syncRoom(group: ObservedGroup, groups: readonly ObservedGroup[]): number | null {
  if (!isSyncing(group)) return null
  const syncing = groups.filter(isSyncing).length
  const share = Math.floor((group.node.memoryFreeBytes * 0.75) / syncing)
  const bytes = Math.max(DEFAULT_BYTES, share)
  return bytes - (bytes % PAGE_BYTES) + MARK
}

/**
 * True if a follower is syncing. A silent one, which may be loading, counts until it is seen linked; a linked
 * one until it has caught up.
 */
function isSyncing({ shards, recordedPrimary }: ObservedGroup): boolean {
  const primary = shards.find(({ id }) => id === recordedPrimary)
  return shards.some(
    (shard) =>
      shard !== primary &&
      shard.follows === recordedPrimary &&
      !shard.leaving &&
      ['starting', 'running'].includes(shard.process) &&
      (!isLive(shard) ||
        (shard.engine.role === 'replica' &&
          (shard.engine.link === 'down' ||
            (primary?.engine?.offset ?? 0) - shard.engine.offset > BEHIND_BYTES))),
  )
}

/** A follower that is less behind has caught up. */
const BEHIND_BYTES = 1024 * 1024

/** True if Fairlead has set this limit for a full sync. */
export function isOurs({ hardBytes, softBytes }: ReplicaLimit): boolean {
  return softBytes === 0 && hardBytes % PAGE_BYTES === MARK
}

/** True if the limit already allows this much. 0 is no limit. */
export function allows({ hardBytes, softBytes }: ReplicaLimit, bytes: number): boolean {
  return (hardBytes === 0 || hardBytes >= bytes) && softBytes === 0
}

/** Reads "normal 0 0 0 slave 268435456 67108864 60 pubsub …" (CONFIG GET). Null if unreadable. */
export function readReplicaLimit(text: string): ReplicaLimit | null {
  const [, hard, soft, seconds] = /\b(?:slave|replica) (\d+) (\d+) (\d+)\b/.exec(text) ?? []
  if (hard === undefined) return null
  return { hardBytes: Number(hard), softBytes: Number(soft), softSeconds: Number(seconds) }
}

/** Returns the text with another limit for replicas. */
export function withReplicaLimit(text: string, { hardBytes, softBytes, softSeconds }: ReplicaLimit): string {
  return text.replace(/\b(slave|replica) \d+ \d+ \d+\b/, `$1 ${hardBytes} ${softBytes} ${softSeconds}`)
}

/** Formats for CONFIG SET; other classes stay unchanged. */
export function writeReplicaLimit({ hardBytes, softBytes, softSeconds }: ReplicaLimit): string {
  return `replica ${hardBytes} ${softBytes} ${softSeconds}`
}

/** Every engine's limit at its start. */
export const usualLimit: ReplicaLimit = {
  hardBytes: DEFAULT_BYTES,
  softBytes: 64 * 1024 * 1024,
  softSeconds: 60,
}
