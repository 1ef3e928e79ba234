/** Retention of records in the store, and disk limit of sealed files. */
export interface Retention {
  readonly days: number
  readonly sealedBytes: number
}

/** Limit of records in the store, even young ones: about 100 MB. */
const MOST_IN_STORE = 200_000
const DAY_MS = 86_400_000

/** Returns the time before which records may be sealed (ISO 8601). */
export function sealedBefore({ days }: Retention, nowMs: number): string {
  return new Date(nowMs - days * DAY_MS).toISOString()
}

/**
 * Returns the number up to which records should be sealed; null if none is due. The last record always stays,
 * because the next one covers it. If there are too many, a tenth is sealed at a time.
 */
export function sealUpTo(
  store: { readonly first: number; readonly last: number; readonly lastOld: number | null },
  mostInStore = MOST_IN_STORE,
): number | null {
  const { first, last, lastOld } = store
  const surplus = last - first + 1 - mostInStore
  const tooMany = surplus > 0 ? first + surplus - 1 + Math.floor(mostInStore / 10) : 0
  const upTo = Math.min(last - 1, Math.max(lastOld ?? 0, tooMany))
  return upTo >= first ? upTo : null
}

/** Returns the segments, oldest first, to delete so that the rest fits. */
export function segmentsToRemove<Segment extends { readonly bytes: number }>(
  segments: readonly Segment[],
  { sealedBytes }: Retention,
): readonly Segment[] {
  let bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0)
  const gone: Segment[] = []
  for (const segment of segments) {
    if (bytes <= sealedBytes) break
    gone.push(segment)
    bytes -= segment.bytes
  }
  return gone
}
