import {
  ANOTHER_MS,
  FEWEST_TIMES,
  LONGEST_REQUEST_MS,
  LONGEST_SERIES_MS,
  QUIET_MS,
} from '../connection/put-off.ts'

/** Attempts to hold the clients of an upstream, one after the other, that all failed. */
export interface Attempts {
  readonly times: number
  readonly sinceMs: number
  readonly lastMs: number
  /** Since when new long requests have to wait; null: they do not wait. */
  readonly closedMs: number | null
  /** Since when attempts have got through to a hold, one after the other; null: the last one did not. */
  readonly throughMs: number | null
}

/** Long requests wait no longer than this: those that were under way before have ended by then, or were closed. */
export const LONGEST_CLOSED_MS = 2 * LONGEST_REQUEST_MS

/**
 * Counts another attempt at `nowMs`. `before`: null after the role has moved. After minutes of attempts, new long requests
 * have to wait.
 */
export function attemptAgain(before: Attempts | null, nowMs: number): Attempts {
  const isOther = before === null || nowMs - before.lastMs > ANOTHER_MS || isClosedTooLong(before, nowMs)
  if (isOther) return { times: 1, sinceMs: nowMs, lastMs: nowMs, closedMs: null, throughMs: null }
  const times = before.times + 1
  const isOverdue = times > FEWEST_TIMES && nowMs - before.sinceMs >= LONGEST_SERIES_MS
  return { ...before, times, lastMs: nowMs, closedMs: before.closedMs ?? (isOverdue ? nowMs : null) }
}

/** Notes that an attempt got through to a hold and moved no role. Null: nothing has been in the way for a minute. */
export function gotThrough(before: Attempts | null, nowMs: number): Attempts | null {
  if (before === null) return null
  const throughMs = before.throughMs ?? nowMs
  return nowMs - throughMs >= QUIET_MS ? null : { ...before, throughMs }
}

/** Notes that something was in the way of the last attempt. */
export function gotStuck(before: Attempts | null): Attempts | null {
  return before === null ? null : { ...before, throughMs: null }
}

/** Notes that new long requests do not wait any more. What was counted stays counted. */
export function opened(before: Attempts | null): Attempts | null {
  return before === null ? null : { ...before, closedMs: null }
}

/** Whether every long request under way has been so for a minute, because none has begun since. */
export function areAllOverdue(attempts: Attempts | null, nowMs: number): boolean {
  return attempts !== null && attempts.closedMs !== null && nowMs - attempts.closedMs >= LONGEST_REQUEST_MS
}

function isClosedTooLong({ closedMs }: Attempts, nowMs: number): boolean {
  return closedMs !== null && nowMs - closedMs >= LONGEST_CLOSED_MS
}
