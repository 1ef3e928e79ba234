import { isLive, type Seen } from '../state/topology.ts'

/**
 * A group has no primary, and one of those who live is promoted. Who may have taken acknowledged writes along that it had not sent
 * yet? The id of that shard; null when nobody did, because whoever served lives, and follows.
 *
 * In a handover that was interrupted it is not known how far it had come: an old primary that is gone may not have sent everything, and
 * the heir, if it is gone and the old primary has stepped down, may have taken over, and clients with it. It has not where `heirMayServe` is
 * false: it was certainly never told to.
 */
export function lostWith({ shards, recordedPrimary, handover }: Seen, heirMayServe: boolean): number | null {
  if (handover === null || recordedPrimary === null) return recordedPrimary
  const isGone = (id: number) => !shards.some((shard) => shard.id === id && isLive(shard))
  if (isGone(recordedPrimary)) return recordedPrimary
  return heirMayServe && !handover.released && isGone(handover.to) ? handover.to : null
}
