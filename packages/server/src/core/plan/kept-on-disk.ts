import type { Goal } from '../state/goal.ts'
import type { EngineState, LiveShard, ObservedShard, Snapshot } from '../state/topology.ts'

/**
 * The offset of a snapshot in the history of `engine`; null if there is no snapshot, or if it is of another history:
 * then it is older than this history.
 */
export function reachOf(
  snapshot: Snapshot | null,
  { replid, replid2, secondOffset }: Pick<EngineState, 'replid' | 'replid2' | 'secondOffset'>,
): number | null {
  if (snapshot === null || snapshot.offset === null) return null
  if (snapshot.replid === replid) return snapshot.offset
  return snapshot.replid === replid2 && snapshot.offset < secondOffset ? snapshot.offset : null
}

/** Whether its disk has nothing to load. False for a disk that was never looked at. */
export function isEmptyDisk({ disk }: ObservedShard): boolean {
  return disk !== null && disk.snapshot === null && disk.aof === 'none'
}

/**
 * Why `shard` could not serve with the data that `other` has on its disk, if all processes died now; undefined when it could. Both hold the
 * history of `primary`, or held it.
 */
export function whyLessKept(
  shard: LiveShard,
  other: ObservedShard,
  primary: LiveShard,
  persistence: Goal['persistence'],
): string | undefined {
  switch (persistence) {
    case 'disabled':
      return undefined
    case 'aof':
      return shard.engine.aof === 'on' ? undefined : `shard ${shard.id} has no append-only file yet`
    case 'snapshot':
      return hasSnapshotOf(shard, other, primary)
        ? undefined
        : `shard ${shard.id} has no snapshot as new as that of shard ${other.id}`
  }
}

function hasSnapshotOf({ disk }: LiveShard, other: ObservedShard, { engine }: LiveShard): boolean {
  const [mine, theirs] = [disk, other.disk].map((one) => reachOf(one?.snapshot ?? null, engine))
  // The other one's snapshot is older than the stream of this shard: a snapshot of this history holds more.
  return mine != null && (theirs == null || mine >= theirs)
}

/**
 * The same if `other` is removed. Only a snapshot from before the primary's last promotion is compared, because it may be from the
 * time when `other` served. A snapshot of the history since then was saved by a follower, or sent to it: its primary saves as often. A snapshot
 * of another history was compared before the primary served (plan-from-disks.ts).
 */
export function whyNotGivenUp(
  other: ObservedShard,
  primary: LiveShard,
  persistence: Goal['persistence'],
): string | undefined {
  if (other === primary || other.disk === null || isEmptyDisk(other)) return undefined
  const { snapshot } = other.disk
  const isFromBefore =
    snapshot?.replid === primary.engine.replid2 && reachOf(snapshot, primary.engine) !== null
  if (persistence !== 'snapshot' || isFromBefore) return whyLessKept(primary, other, primary, persistence)
  return primary.disk?.snapshot == null ? `shard ${primary.id}, the primary, has no snapshot yet` : undefined
}
