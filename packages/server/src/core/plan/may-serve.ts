import { isLive, type Seen, type SeenShard } from '../state/topology.ts'

/**
 * May it be the primary, or become it by an order that it was given and has not carried out yet? The shard on record, both sides of a
 * handover until what it held was let go, and one that was ordered to take over from a primary that is gone: that it follows nobody is
 * on record before the order goes out. No other shard can take writes: a replica becomes a primary by an order only.
 */
export function mayServe(
  { id, follows }: Pick<SeenShard, 'id' | 'follows'>,
  { recordedPrimary, handover }: Pick<Seen, 'recordedPrimary' | 'handover'>,
): boolean {
  if (id === recordedPrimary || follows === null) return true
  return handover !== null && !handover.released && (id === handover.from || id === handover.to)
}

/** Its process runs and answers nobody; or it is being stopped: that one still answers, and would take a new role into its end. */
export function isSilent(shard: SeenShard): boolean {
  return shard.process === 'stopping' || (!isLive(shard) && ['starting', 'running'].includes(shard.process))
}
