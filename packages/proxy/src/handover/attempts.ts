import { FEWEST_TIMES, LONGEST_REQUEST_MS, LONGEST_SERIES_MS } from '../connection/put-off.ts'

/** Attempts to hold the clients of an upstream, one after the other, that all failed. */
export interface Attempts {
  readonly times: number
  readonly sinceMs: number
  readonly lastMs: number
  /** Since when new long requests have to wait; null: they do not wait. */
  readonly closedMs: number | null
}

/** Attempts come seconds apart. After this time without one, the next attempt belongs to another handover. */
const ANOTHER_MS = 60_000
/** Long requests wait no longer than this: those that were under way before have ended by then, or were closed. */
export const LONGEST_CLOSED_MS = 2 * LONGEST_REQUEST_MS

/** Counts another attempt, at `nowMs`. `before`: null after a successful one. After minutes of attempts new long requests have to wait. */
export function attemptAgain(before: Attempts | null, nowMs: number): Attempts {
  const isOther = before === null || nowMs - before.lastMs > ANOTHER_MS || isClosedTooLong(before, nowMs)
  if (isOther) return { times: 1, sinceMs: nowMs, lastMs: nowMs, closedMs: null }
  const times = before.times + 1
  const isOverdue = times > FEWEST_TIMES && nowMs - before.sinceMs >= LONGEST_SERIES_MS
  return { ...before, times, lastMs: nowMs, closedMs: before.closedMs ?? (isOverdue ? nowMs : null) }
}

/** Whether every long request under way has been so for a minute, because none has begun since. */
export function areAllOverdue(attempts: Attempts | null, nowMs: number): boolean {
  return attempts !== null && attempts.closedMs !== null && nowMs - attempts.closedMs >= LONGEST_REQUEST_MS
}

function isClosedTooLong({ closedMs }: Attempts, nowMs: number): boolean {
  return closedMs !== null && nowMs - closedMs >= LONGEST_CLOSED_MS
}
