import type { ObservedGroup } from '../state/topology.ts'
import { isLive } from '../state/topology.ts'

/** How far engines let a replica be behind by default: a replica that is further behind is disconnected. */
const DEFAULT_BYTES = 256 * 1024 * 1024

/** Fairlead sets sizes that end like this: no person sets one byte more than a whole number of pages. */
const PAGE_BYTES = 4_096
const MARK = 1

/** The parameter of engines that bounds their output buffers, by class of client. */
export const SYNC_SETTING = 'client-output-buffer-limit'

/** The class of replicas in `client-output-buffer-limit`, in bytes and seconds: hard and soft limit, and how long the soft one lasts. */
export interface ReplicaLimit {
  readonly hardBytes: number
  readonly softBytes: number
  readonly softSeconds: number
}

/** How much a process of a shard may hold back for replicas while no sync runs. `runId`: of the engine process. */
export interface LimitBefore {
  readonly runId: string
  readonly limit: ReplicaLimit
}

/**
 * While a follower takes a full sync, its primary holds back what is written meanwhile. How much it may hold back then, in bytes: three
 * quarters of the memory that the node has free (without what is reserved for the followers), shared with the other groups that sync;
 * but never less than engines allow by default. Null unless a follower takes a full sync, is about to, or is still far behind after one.
 */
export function syncRoom(group: ObservedGroup, groups: readonly ObservedGroup[]): number | null {
  if (!isSyncing(group)) return null
  const syncing = groups.filter(isSyncing).length
  const share = Math.floor((group.node.memoryFreeBytes * 0.75) / syncing)
  const bytes = Math.max(DEFAULT_BYTES, share)
  return bytes - (bytes % PAGE_BYTES) + MARK
}

/**
 * A follower that loads its data may be too busy to answer: it counts until it is seen to be linked. So does a follower that is linked and
 * has not yet caught up with what was held back for it.
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

/** A follower that is less behind than this has caught up. */
const BEHIND_BYTES = 1024 * 1024

/** Did Fairlead set this limit for a full sync? */
export function isOurs({ hardBytes, softBytes }: ReplicaLimit): boolean {
  return softBytes === 0 && hardBytes % PAGE_BYTES === MARK
}

/** Does the limit allow this much already? 0 is no limit. */
export function allows({ hardBytes, softBytes }: ReplicaLimit, bytes: number): boolean {
  return (hardBytes === 0 || hardBytes >= bytes) && softBytes === 0
}

/** Reads CONFIG GET client-output-buffer-limit: "normal 0 0 0 slave 268435456 67108864 60 pubsub …". Null when it cannot be read. */
export function readReplicaLimit(text: string): ReplicaLimit | null {
  const [, hard, soft, seconds] = /\b(?:slave|replica) (\d+) (\d+) (\d+)\b/.exec(text) ?? []
  if (hard === undefined) return null
  return { hardBytes: Number(hard), softBytes: Number(soft), softSeconds: Number(seconds) }
}

/** The same text with another limit of replicas. */
export function withReplicaLimit(text: string, { hardBytes, softBytes, softSeconds }: ReplicaLimit): string {
  return text.replace(/\b(slave|replica) \d+ \d+ \d+\b/, `$1 ${hardBytes} ${softBytes} ${softSeconds}`)
}

/** As CONFIG SET takes it; the other classes stay as they are. */
export function writeReplicaLimit({ hardBytes, softBytes, softSeconds }: ReplicaLimit): string {
  return `replica ${hardBytes} ${softBytes} ${softSeconds}`
}

/** What every engine starts with. */
export const usualLimit: ReplicaLimit = {
  hardBytes: DEFAULT_BYTES,
  softBytes: 64 * 1024 * 1024,
  softSeconds: 60,
}
