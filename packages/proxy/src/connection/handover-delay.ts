/** How often, and since when, a client's long requests have delayed holds. */
export interface HandoverDelay {
  readonly times: number
  readonly sinceMs: number
  /** Number of the present request, and when it first delayed a hold. */
  readonly request: number
  readonly requestSinceMs: number
  /** Time of the last delay. */
  readonly lastMs: number
}

/** A client that takes longer for one request is closed: others wait no longer for it. */
export const LONGEST_REQUEST_MS = 60_000
/** Limit for a client that sends long requests in sequence and delays each hold. */
export const LONGEST_SERIES_MS = 300_000
/** Minimum number of delayed holds before a client is closed: after a single pause it may continue. */
export const FEWEST_TIMES = 5
/** Without a delayed hold for this time, the count ends. */
export const QUIET_MS = 60_000
/** After this time without a hold, the next one belongs to another handover. */
export const ANOTHER_MS = 300_000

/**
 * Counts a hold that the client delays at `nowMs` with this request. `before`: null if it delayed none
 * recently.
 */
export function putOffAgain(before: HandoverDelay | null, request: number, nowMs: number): HandoverDelay {
  if (before === null || nowMs - before.lastMs > ANOTHER_MS)
    return { times: 1, sinceMs: nowMs, request, requestSinceMs: nowMs, lastMs: nowMs }
  const requestSinceMs = before.request === request ? before.requestSinceMs : nowMs
  return { times: before.times + 1, sinceMs: before.sinceMs, request, requestSinceMs, lastMs: nowMs }
}

/** Returns the limit that is exceeded: of this request or of the series; or null. */
export function overdueFor(
  { times, sinceMs, requestSinceMs }: HandoverDelay,
  nowMs: number,
): 'request' | 'series' | null {
  if (times < FEWEST_TIMES) return null
  if (nowMs - requestSinceMs >= LONGEST_REQUEST_MS) return 'request'
  return nowMs - sinceMs >= LONGEST_SERIES_MS ? 'series' : null
}

/** Returns the count after a hold that the client did not delay; null if the count has ended. */
export function notPutOff(before: HandoverDelay, nowMs: number): HandoverDelay | null {
  return nowMs - before.lastMs > QUIET_MS ? null : before
}
