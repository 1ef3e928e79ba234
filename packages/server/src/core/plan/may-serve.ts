import { isLive, type ObservedGroup, type ObservedShard } from '../state/topology.ts'

/**
 * May the shard be the primary, or become it by an order that it has received and not carried out yet? True for the
 * shard on record; for both sides of a handover until its holds are released; and for a shard that was
 * ordered to replace a primary that is gone (its `follows: null` is on record before the order goes out). No
 * other shard can take writes: a replica becomes a primary by an order only.
 */
export function mayServe(
  { id, follows }: Pick<ObservedShard, 'id' | 'follows'>,
  { recordedPrimary, handover }: Pick<ObservedGroup, 'recordedPrimary' | 'handover'>,
): boolean {
  if (id === recordedPrimary || follows === null) return true
  return handover !== null && !handover.released && (id === handover.from || id === handover.to)
}

/**
 * Its process runs and does not answer, or is being stopped. A stopping process still answers, but would
 * not live to carry out a new role.
 */
export function isSilent(shard: ObservedShard): boolean {
  return shard.process === 'stopping' || (!isLive(shard) && ['starting', 'running'].includes(shard.process))
}
