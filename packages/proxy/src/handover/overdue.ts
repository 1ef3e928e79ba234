/** A connection whose engine owes it a reply: how often it was in the way of a hold, in a row, and since when for the same reply. */
export interface Overdue {
  readonly times: number
  /** The number of the oldest request that is not answered. */
  readonly request: number
  /** Since when each of these holds found the same request, and the engine answered others after each of them. */
  readonly sinceMs: number
  readonly sameTimes: number
}

/** After this many delayed holds in a row the engine is asked on the connection itself. Most connections are slow only once. */
export const ASKED_AFTER = 2
/** If the engine answers others, a reply that takes this long counts as one that does not come. */
export const LONGEST_OVERDUE_MS = 300_000
/** How long a reply is waited for while it is not known whether its engine answers others. After that the engine counts as answering them. */
export const LONGEST_UNTOLD_MS = 1_800_000
/** A reply also must have delayed this many holds before it counts as missing. */
export const FEWEST_HOLDS = 5

/** Counts that a connection delays a hold, at `nowMs`. `before`: null if it did not delay the last one. */
export function stillOverdue(before: Overdue | null, request: number, nowMs: number): Overdue {
  const times = (before?.times ?? 0) + 1
  if (before?.request !== request) return { times, request, sinceMs: nowMs, sameTimes: 1 }
  return { ...before, times, sameTimes: before.sameTimes + 1 }
}

/** At `nowMs` the engine answered no client: a script runs, it works, or writes are paused. That explains all earlier delays. */
export function excused(overdue: Overdue, nowMs: number): Overdue {
  return { ...overdue, sinceMs: nowMs, sameTimes: 0 }
}

/** It was not known whether the engine answered others: this hold does not count. */
export function uncounted(overdue: Overdue): Overdue {
  return { ...overdue, sameTimes: Math.max(0, overdue.sameTimes - 1) }
}

/** Whether others have waited for its reply for long enough. */
export function isNeverToCome({ sameTimes, sinceMs }: Overdue, nowMs: number): boolean {
  return sameTimes >= FEWEST_HOLDS && nowMs - sinceMs >= LONGEST_OVERDUE_MS
}
