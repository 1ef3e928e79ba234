/** A connection whose engine owes it a reply: how often it was in the way of a hold, in a row, and since when for the same reply. */
export interface Overdue {
  readonly times: number
  /** The number of the oldest request that is not answered. */
  readonly request: number
  /** Since then each of these holds found the same request, and after each of them the engine answered others. */
  readonly sinceMs: number
  readonly sameTimes: number
}

/** After so many delayed holds in a row the engine is asked on the connection itself. Most are slow only once. */
export const ASKED_AFTER = 2
/** The engine answers others, but not this one: a reply that takes so long is taken for one that does not come. */
export const LONGEST_OVERDUE_MS = 300_000
/** For so long it is waited for although nothing tells whether its engine answers others. From then on it is taken to answer them. */
export const LONGEST_UNTOLD_MS = 1_800_000
/** Nor before the same reply was in the way so often. */
export const FEWEST_HOLDS = 5

/** It is in the way of a hold, at `nowMs`. `before`: null if it was not the last time. */
export function stillOverdue(before: Overdue | null, request: number, nowMs: number): Overdue {
  const times = (before?.times ?? 0) + 1
  if (before?.request !== request) return { times, request, sinceMs: nowMs, sameTimes: 1 }
  return { ...before, times, sameTimes: before.sameTimes + 1 }
}

/** At `nowMs` the engine answered no client: a script runs, it works, or writes are paused. That explains all that came before. */
export function excused(overdue: Overdue, nowMs: number): Overdue {
  return { ...overdue, sinceMs: nowMs, sameTimes: 0 }
}

/** It could not be told whether the engine answered others: this hold counts neither for it nor against it. */
export function uncounted(overdue: Overdue): Overdue {
  return { ...overdue, sameTimes: Math.max(0, overdue.sameTimes - 1) }
}

/** Whether others have waited for its reply for long enough. */
export function isNeverToCome({ sameTimes, sinceMs }: Overdue, nowMs: number): boolean {
  return sameTimes >= FEWEST_HOLDS && nowMs - sinceMs >= LONGEST_OVERDUE_MS
}
