import type { Certificate } from './action.ts'
import type { Standby } from './topology.ts'

/** A handover on record: the intent before the first command, then the result. */
export interface Handover {
  readonly id: number
  readonly databaseUid: number
  readonly group: number
  readonly actionUid: string | null
  readonly from: number
  readonly to: number
  /** Full syncs that each member had served before, by shard id. */
  readonly fullSyncsBefore: Readonly<Record<string, number>>
  readonly intendedAt: string
  /** The old primary as it was when it became a replica. */
  readonly standby: Standby
  readonly released: boolean
  /** The handover is completely finished. */
  readonly closed: boolean
  readonly certificate: Certificate | null
}

/**
 * The longest possible write stop of a handover that a crash interrupted, in milliseconds: after a crash only the wall clock (`nowMs`, Unix time) can tell. Null if the
 * clock was set back: then no bound is known.
 */
export function longestWriteStopMs(
  { intendedAt }: Pick<Handover, 'intendedAt'>,
  nowMs: number,
): number | null {
  const sinceMs = nowMs - Date.parse(intendedAt)
  return sinceMs < 0 ? null : sinceMs
}
