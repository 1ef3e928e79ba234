/** How long records stay in the store, and how much disk sealed files may take. */
export interface Retention {
  readonly days: number
  readonly sealedBytes: number
}

/** The store does not keep more records than this, however young they are: about 100 MB. */
const MOST_IN_STORE = 200_000
const DAY_MS = 86_400_000

/** Records older than this may be sealed, ISO 8601. */
export function sealedBefore({ days }: Retention, nowMs: number): string {
  return new Date(nowMs - days * DAY_MS).toISOString()
}

/**
 * Up to which number records are to be sealed; null: none is due. The last record always stays: the next one covers it. When there
 * are too many, a tenth of them is sealed at once.
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

/** The segments, oldest first, that must be deleted so that the rest fits. */
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
