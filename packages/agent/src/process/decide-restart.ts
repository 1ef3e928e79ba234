/** A process that lived this long after its first answer was healthy: the next death begins a new series. */
const HEALTHY_AFTER_MS = 60_000
const SHORTEST_BACK_OFF_MS = 100
const LONGEST_BACK_OFF_MS = 30_000

/** Returns the number of consecutive deaths, with this one at `now`. Times in Unix ms. */
export function nextStreak(
  last: { readonly streak: number; readonly answeredAt: number | null },
  now: number,
) {
  const wasHealthy = last.answeredAt !== null && now - last.answeredAt >= HEALTHY_AFTER_MS
  return wasHealthy ? 1 : last.streak + 1
}

/** Returns the pause before the next start: 100 ms, doubled with each consecutive death, at most 30 s. */
export function backOffMs(streak: number): number {
  // 2 ** 9 times the shortest pause exceeds the longest; the limit keeps the result finite.
  return Math.min(LONGEST_BACK_OFF_MS, SHORTEST_BACK_OFF_MS * 2 ** Math.min(Math.max(streak - 1, 0), 9))
}
