import { isLive, type ObservedGroup } from '../state/topology.ts'

/**
 * A group has no primary, and one of its live shards is promoted. Answers which shard may have died with acknowledged
 * writes that it had not replicated yet: its id, or null if there is none, because the last
 * primary lives, and is a follower now.
 *
 * It is not known how far an interrupted handover had come. An old primary that is gone may not have sent
 * everything. If the successor is gone and the old primary has stepped down, the successor may have taken over, and
 * clients may have written to it. It has not if `successorMayServe` is false: it certainly never got the order.
 */
export function lostWith(
  { shards, recordedPrimary, handover }: ObservedGroup,
  successorMayServe: boolean,
): number | null {
  if (handover === null || recordedPrimary === null) return recordedPrimary
  const isGone = (id: number) => !shards.some((shard) => shard.id === id && isLive(shard))
  if (isGone(recordedPrimary)) return recordedPrimary
  return successorMayServe && !handover.released && isGone(handover.to) ? handover.to : null
}
