/** How often, and since when, a client that was sending a long request has delayed holds. */
export interface PutOff {
  readonly times: number
  readonly sinceMs: number
  /** The number of its request, and since when it was this one. */
  readonly request: number
  readonly requestSinceMs: number
  /** When it delayed one last. */
  readonly lastMs: number
}

/** A client that takes longer for one request is cut: others do not wait for it any longer. */
export const LONGEST_REQUEST_MS = 60_000
/** The same for a client that sends one long request after the other, and delays each hold. */
export const LONGEST_SERIES_MS = 300_000
/** A client is not closed before it has delayed this many holds: a client that paused once may continue. */
export const FEWEST_TIMES = 5
/** When holds have not been delayed for this time, what delayed them has ended. */
export const QUIET_MS = 60_000
/** After this time without a hold, the next one belongs to another handover. */
export const ANOTHER_MS = 300_000

/** Counts that a client delays a hold at `nowMs` with this request. `before`: null if it has delayed none lately. */
export function putOffAgain(before: PutOff | null, request: number, nowMs: number): PutOff {
  if (before === null || nowMs - before.lastMs > ANOTHER_MS)
    return { times: 1, sinceMs: nowMs, request, requestSinceMs: nowMs, lastMs: nowMs }
  const requestSinceMs = before.request === request ? before.requestSinceMs : nowMs
  return { times: before.times + 1, sinceMs: before.sinceMs, request, requestSinceMs, lastMs: nowMs }
}

/** Tells for what others have waited long enough: this request, or one after the other. Null: for neither. */
export function overdueFor(
  { times, sinceMs, requestSinceMs }: PutOff,
  nowMs: number,
): 'request' | 'series' | null {
  if (times < FEWEST_TIMES) return null
  if (nowMs - requestSinceMs >= LONGEST_REQUEST_MS) return 'request'
  return nowMs - sinceMs >= LONGEST_SERIES_MS ? 'series' : null
}

/** Keeps the count after a hold that the client did not delay, or answers null when the count has ended. */
export function notPutOff(before: PutOff, nowMs: number): PutOff | null {
  return nowMs - before.lastMs > QUIET_MS ? null : before
}
