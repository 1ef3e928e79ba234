import type { Certificate } from './action.ts'
import type { ObservedGroup, Standby } from './topology.ts'

/** A recorded handover: the intent before the first command, then the result. */
export interface Handover {
  readonly id: number
  readonly databaseUid: number
  readonly group: number
  readonly actionUid: string | null
  readonly from: number
  readonly to: number
  /** Full syncs served by each member before, by shard id. */
  readonly fullSyncsBefore: Readonly<Record<string, number>>
  readonly intendedAt: string
  /** The old primary when it became a replica. */
  readonly standby: Standby
  readonly released: boolean
  /** True if the handover is completely finished. */
  readonly closed: boolean
  readonly certificate: Certificate | null
}

/**
 * Returns the longest possible write stop (ms) of an interrupted handover: after a crash only the wall clock
 * (`nowMs`, Unix ms) is left. Null if the clock was set back.
 */
export function longestWriteStopMs(
  { intendedAt }: Pick<Handover, 'intendedAt'>,
  nowMs: number,
): number | null {
  const sinceMs = nowMs - Date.parse(intendedAt)
  return sinceMs < 0 ? null : sinceMs
}

/** Time after the hold until its tape is complete, with a margin for the record. A tape ends after 2.5 s. */
export const TAPED_FOR_MS = 2_700
/** Time for which the proxy is asked for a tape. */
const ASKED_FOR_MS = 60_000

/** Undefined without an endpoint's counts, or if it is too old. `now`: Unix ms. */
export function tapeDue(
  { id, certificate }: Pick<Handover, 'id' | 'certificate'>,
  now: number,
): ObservedGroup['tapeDue'] {
  if (certificate?.began === undefined || certificate.heldMs === null) return undefined
  const { heldMs, began } = certificate
  // If the clock was set back, it counts as old.
  const ageMs = Math.abs(now - began.holdAt - heldMs)
  return ageMs > ASKED_FOR_MS ? undefined : { handover: id, heldMs, ageMs }
}
