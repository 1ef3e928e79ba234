/** A connection with a missing reply: how often in a row it delayed a hold, and since when. */
export interface Overdue {
  readonly times: number
  /** Number of the oldest unanswered request. */
  readonly request: number
  /** Since when every hold found the same request while the engine answered others. */
  readonly sinceMs: number
  readonly sameTimes: number
}

/** After this many delayed holds in a row, the connection itself is probed. Most are slow only once. */
export const ASKED_AFTER = 2
/** If the engine answers others, a reply that takes this long is considered missing. */
export const LONGEST_OVERDUE_MS = 300_000
/** Longest wait for a reply while it is unknown if the engine answers others. Then it counts as answering. */
export const LONGEST_UNTOLD_MS = 1_800_000
/** A reply must also have delayed this many holds to be considered missing. */
export const FEWEST_HOLDS = 5

/** Counts a hold that the connection delays at `nowMs`. `before`: null if it did not delay the last one. */
export function stillOverdue(before: Overdue | null, request: number, nowMs: number): Overdue {
  const times = (before?.times ?? 0) + 1
  if (before?.request !== request) return { times, request, sinceMs: nowMs, sameTimes: 1 }
  return { ...before, times, sameTimes: before.sameTimes + 1 }
}

/** Excuses earlier delays: at `nowMs` the engine answered no client (a script, work, or paused writes). */
export function excused(overdue: Overdue, nowMs: number): Overdue {
  return { ...overdue, sinceMs: nowMs, sameTimes: 0 }
}

/** Does not count this hold: it is unknown if the engine answered others. */
export function uncounted(overdue: Overdue): Overdue {
  return { ...overdue, sameTimes: Math.max(0, overdue.sameTimes - 1) }
}

/** True if others have waited long enough for this reply. */
export function isNeverToCome({ sameTimes, sinceMs }: Overdue, nowMs: number): boolean {
  return sameTimes >= FEWEST_HOLDS && nowMs - sinceMs >= LONGEST_OVERDUE_MS
}
