/** After an attempt that was in vain. */
const SHORTEST_MS = 3_000
const LONGEST_MS = 15_000
/** A client that has delayed so many attempts in a row is slow, and will delay the next one, too. */
const GROWTH = 1.5

/**
 * How long a handover is put off, in milliseconds, when an endpoint could not hold its clients: the first time, or when it was not the
 * same client again, the shortest time there is. `tries`: how often the same client was in the way, in a row; 0 where none was.
 */
export function pauseAfter(tries: number): number {
  return Math.min(LONGEST_MS, SHORTEST_MS * GROWTH ** Math.max(0, tries - 1))
}
