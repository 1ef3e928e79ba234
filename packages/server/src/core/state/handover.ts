import type { Certificate } from './action.ts'
import type { ObservedGroup, Standby } from './topology.ts'

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

/** How long after the hold of a handover its tape is complete, with a margin for the time until the record. A tape itself ends after 2.5 s. */
export const TAPED_FOR_MS = 2_700
/** How long the proxy is asked for a tape. */
const ASKED_FOR_MS = 60_000

/** Undefined: no endpoint has counted it, or it is too old. `now`: Unix milliseconds. */
export function tapeDue(
  { id, certificate }: Pick<Handover, 'id' | 'certificate'>,
  now: number,
): ObservedGroup['tapeDue'] {
  if (certificate?.began === undefined || certificate.heldMs === null) return undefined
  const { heldMs, began } = certificate
  // If the clock was set back meanwhile, it counts as old.
  const ageMs = Math.abs(now - began.holdAt - heldMs)
  return ageMs > ASKED_FOR_MS ? undefined : { handover: id, heldMs, ageMs }
}
