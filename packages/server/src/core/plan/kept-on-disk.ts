import type { Goal } from '../state/goal.ts'
import type { EngineState, LiveShard, ObservedShard, Snapshot } from '../state/topology.ts'

/**
 * How far a snapshot reaches in the history of `engine`, as an offset; null when there is none, or when it is of another history:
 * then it is from before this one began.
 */
export function reachOf(
  snapshot: Snapshot | null,
  { replid, replid2, secondOffset }: Pick<EngineState, 'replid' | 'replid2' | 'secondOffset'>,
): number | null {
  if (snapshot === null || snapshot.offset === null) return null
  if (snapshot.replid === replid) return snapshot.offset
  return snapshot.replid === replid2 && snapshot.offset < secondOffset ? snapshot.offset : null
}

/** There is nothing to load on its disk. Not known for a disk that was never looked at: false. */
export function isEmptyDisk({ disk }: ObservedShard): boolean {
  return disk !== null && disk.snapshot === null && disk.aof === 'none'
}

/**
 * Why, if all processes died now, `shard` could not serve with what `other` has on its disk; undefined when it could. Both hold the
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
  // Whatever the other one has is from before a stream came here: a snapshot of this history holds more.
  return mine != null && (theirs == null || mine >= theirs)
}

/**
 * The same where `other` is given up for good. Only a snapshot from before the primary's last promotion is compared, for it may be of the
 * time when `other` served. One of the history since then is what a follower saved, or was sent: its primary saves as often. One
 * of another history was compared before its primary served (plan-from-disks.ts).
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
