import { isLive, type ObservedGroup, type ObservedShard } from '../state/topology.ts'

/**
 * True if the shard may be the primary, or become it by an order that it has not executed yet: the recorded
 * shard, both sides of a handover until its holds are released, and a shard ordered to replace a lost primary
 * (its `follows: null` is recorded before the order). No other shard can take writes, because a replica
 * becomes primary only by an order.
 */
export function mayServe(
  { id, follows }: Pick<ObservedShard, 'id' | 'follows'>,
  { recordedPrimary, handover }: Pick<ObservedGroup, 'recordedPrimary' | 'handover'>,
): boolean {
  if (id === recordedPrimary || follows === null) return true
  return handover !== null && !handover.released && (id === handover.from || id === handover.to)
}

/**
 * True if its process runs without answering, or is being stopped. A stopping process still answers, but
 * would not live to take a new role.
 */
export function isSilent(shard: ObservedShard): boolean {
  return shard.process === 'stopping' || (!isLive(shard) && ['starting', 'running'].includes(shard.process))
}
