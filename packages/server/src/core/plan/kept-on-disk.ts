import type { Goal } from '../state/goal.ts'
import type { EngineState, LiveShard, ObservedShard, Snapshot } from '../state/topology.ts'

/** Returns the offset of a snapshot in the history of `engine`; null if there is none, or it is older. */
export function reachOf(
  snapshot: Snapshot | null,
  { replid, replid2, secondOffset }: Pick<EngineState, 'replid' | 'replid2' | 'secondOffset'>,
): number | null {
  if (snapshot === null || snapshot.offset === null) return null
  if (snapshot.replid === replid) return snapshot.offset
  return snapshot.replid === replid2 && snapshot.offset < secondOffset ? snapshot.offset : null
}

/** True if its disk has nothing to load. False for a disk that was never examined. */
export function isEmptyDisk({ disk }: ObservedShard): boolean {
  return disk !== null && disk.snapshot === null && disk.aof === 'none'
}

/**
 * Returns why `shard` could not serve with the data on the disk of `other` if all processes died now;
 * undefined if it could. Both have, or had, the history of `primary`.
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
  // The other's snapshot is older than this shard's stream: a snapshot of this history holds more.
  return mine != null && (theirs == null || mine >= theirs)
}

/**
 * Like whyLessKept, for the removal of `other`. Compares only a snapshot from before the primary's last
 * promotion, when `other` may have served. Later ones come from the primary, which saves as often; those of
 * another history were compared before the primary served (plan-from-disks.ts).
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
