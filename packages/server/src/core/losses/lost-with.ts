import { isLive, type ObservedGroup } from '../state/topology.ts'

/**
 * Returns the shard that may have died with acknowledged, unreplicated writes when a live shard of a group
 * without a primary is promoted; null if the last primary lives as a follower. The progress of an interrupted
 * handover is unknown: an old primary that is gone may not have sent everything; if the successor is gone and
 * the old primary has stepped down, the successor may have served clients, unless it certainly never got the
 * order (`successorMayServe` false).
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
