/** Pause after a failed attempt. */
const SHORTEST_MS = 3_000
const LONGEST_MS = 15_000
/** A client that has delayed several attempts in a row is slow, and will delay the next one, too. */
const GROWTH = 1.5

/**
 * Returns the delay (ms) of a handover whose endpoint could not hold its clients: shortest for the first
 * time, or another client. `tries`: delays in a row by the same client; 0 if none.
 */
export function pauseAfter(tries: number): number {
  return Math.min(LONGEST_MS, SHORTEST_MS * GROWTH ** Math.max(0, tries - 1))
}
