import { isLoss, type LogEntry, lossWords } from '@fairlead/api'
import type { Mark } from './describe-action.ts'
import { bytes } from './format.ts'

type Loss = Pick<LogEntry, 'type' | 'details'>

/** What has happened, for a line of a list. */
export function markOfLoss({ type }: Loss): Mark {
  return { sign: 'stuck', tone: 'bad', label: isLoss(type) ? lossWords[type] : type }
}

/** Which shard, in place of which, and what is known of the loss. */
export function whyOfLoss({ type, details }: Loss): string {
  const { shard, instead_of: before } = details
  if (type === 'bdb_primary_lost_memory')
    return `Shard ${shard} died without a replica, and serves again with what was on its disk: ${lostOf(details)}`
  if (type === 'bdb_handover_lost_writes')
    return `Shard ${before} went on serving after shard ${shard} had replaced it: ${lostOf(details)}`
  return `Shard ${shard} took the place of shard ${before}, which was gone: ${lostOf(details)}`
}

function lostOf({ lost_bytes: lost, bytes: ofHandover }: Loss['details']): string {
  const known = Number(lost ?? ofHandover ?? Number.NaN)
  if (Number.isNaN(known)) return 'acknowledged writes may be lost; how many is not known'
  if (known === 0) return 'nothing on record is missing; writes of the last second may be'
  return `acknowledged writes are lost, ${bytes(known)} of what was on record`
}
