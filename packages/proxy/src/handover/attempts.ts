import {
  ANOTHER_MS,
  FEWEST_TIMES,
  LONGEST_REQUEST_MS,
  LONGEST_SERIES_MS,
  QUIET_MS,
} from '../connection/handover-delay.ts'

/** A series of failed attempts to hold the clients of an upstream. */
export interface Attempts {
  readonly times: number
  readonly sinceMs: number
  readonly lastMs: number
  /** Since when new long requests wait; null if they do not. */
  readonly closedMs: number | null
  /** Since when all attempts have reached a hold; null if the last one did not. */
  readonly throughMs: number | null
}

/** Long requests wait no longer: earlier ones have ended by then, or were closed. */
export const LONGEST_CLOSED_MS = 2 * LONGEST_REQUEST_MS

/**
 * Counts an attempt at `nowMs`. `before`: null after the role has moved. After minutes of attempts, new long
 * requests must wait.
 */
export function attemptAgain(before: Attempts | null, nowMs: number): Attempts {
  const isOther = before === null || nowMs - before.lastMs > ANOTHER_MS || isClosedTooLong(before, nowMs)
  if (isOther) return { times: 1, sinceMs: nowMs, lastMs: nowMs, closedMs: null, throughMs: null }
  const times = before.times + 1
  const isOverdue = times > FEWEST_TIMES && nowMs - before.sinceMs >= LONGEST_SERIES_MS
  return { ...before, times, lastMs: nowMs, closedMs: before.closedMs ?? (isOverdue ? nowMs : null) }
}

/** Notes a hold after which the role did not move. Null: for a minute nothing has prevented holds. */
export function gotThrough(before: Attempts | null, nowMs: number): Attempts | null {
  if (before === null) return null
  const throughMs = before.throughMs ?? nowMs
  return nowMs - throughMs >= QUIET_MS ? null : { ...before, throughMs }
}

/** Notes that the last attempt failed. */
export function gotStuck(before: Attempts | null): Attempts | null {
  return before === null ? null : { ...before, throughMs: null }
}

/** Notes that new long requests no longer wait. Counts stay. */
export function opened(before: Attempts | null): Attempts | null {
  return before === null ? null : { ...before, closedMs: null }
}

/** True if each pending long request is at least a minute old, because none could begin since. */
export function areAllOverdue(attempts: Attempts | null, nowMs: number): boolean {
  return attempts !== null && attempts.closedMs !== null && nowMs - attempts.closedMs >= LONGEST_REQUEST_MS
}

function isClosedTooLong({ closedMs }: Attempts, nowMs: number): boolean {
  return closedMs !== null && nowMs - closedMs >= LONGEST_CLOSED_MS
}
