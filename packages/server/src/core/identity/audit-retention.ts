/** Maximum number of records in the store, however young: about 100 MB. */
const MOST_RECORDS = 200_000
const DAY_MS = 86_400_000

/**
 * Returns the time (ISO 8601) before which records are removed: the beginning of a day in UTC, so that this
 * happens once a day.
 */
export function keptSince(days: number, nowMs: number): string {
  return new Date(Math.floor(nowMs / DAY_MS - days) * DAY_MS).toISOString()
}

/**
 * Returns the number up to which records are removed; null: none is due. The last record always stays,
 * because the next one continues its hash. If there are more than `most`, a tenth of them is removed in
 * addition.
 */
export function removeUpTo(
  { first, last, lastOld }: { readonly first: number; readonly last: number; readonly lastOld: number },
  most = MOST_RECORDS,
): number | null {
  const surplus = last - first + 1 - most
  const tooMany = surplus > 0 ? first + surplus - 1 + Math.floor(most / 10) : 0
  const upTo = Math.min(last - 1, Math.max(lastOld, tooMany))
  return upTo >= first ? upTo : null
}
