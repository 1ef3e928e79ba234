/** How often, and since when, a client that was sending a long request has delayed holds. */
export interface PutOff {
  readonly times: number
  readonly sinceMs: number
  /** The number of its request, and since when it was this one. */
  readonly request: number
  readonly requestSinceMs: number
}

/** A client that takes longer for one request is cut: others do not wait for it any longer. */
export const LONGEST_REQUEST_MS = 60_000
/** The same for a client that sends one long request after the other, and delays each hold. */
export const LONGEST_SERIES_MS = 300_000
/** A client is not closed before it has delayed this many holds: a client that paused once may continue. */
export const FEWEST_TIMES = 5

/** Counts that a client delays a hold, at `nowMs`, with the request of this number. `before`: null if it did not delay the last one. */
export function putOffAgain(before: PutOff | null, request: number, nowMs: number): PutOff {
  if (before === null) return { times: 1, sinceMs: nowMs, request, requestSinceMs: nowMs }
  const requestSinceMs = before.request === request ? before.requestSinceMs : nowMs
  return { times: before.times + 1, sinceMs: before.sinceMs, request, requestSinceMs }
}

/** Whether others have waited for it for long enough. */
export function isOverdue({ times, sinceMs, requestSinceMs }: PutOff, nowMs: number): boolean {
  if (times < FEWEST_TIMES) return false
  return nowMs - requestSinceMs >= LONGEST_REQUEST_MS || nowMs - sinceMs >= LONGEST_SERIES_MS
}
