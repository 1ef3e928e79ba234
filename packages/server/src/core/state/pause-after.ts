/** The pause after a failed attempt. */
const SHORTEST_MS = 3_000
const LONGEST_MS = 15_000
/** A client that has delayed so many attempts in a row is slow, and will delay the next one, too. */
const GROWTH = 1.5

/**
 * How long a handover is postponed, in milliseconds, when an endpoint could not hold its clients: the first time, or if it was not the
 * same client again, the shortest time. `tries`: how often in a row the same client was in the way; 0 if no client was.
 */
export function pauseAfter(tries: number): number {
  return Math.min(LONGEST_MS, SHORTEST_MS * GROWTH ** Math.max(0, tries - 1))
}
