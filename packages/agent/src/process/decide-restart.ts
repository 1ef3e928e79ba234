/** A process that lived this long after its first answer was healthy: the next death is the first of a new series. */
const HEALTHY_AFTER_MS = 60_000
const SHORTEST_BACK_OFF_MS = 100
const LONGEST_BACK_OFF_MS = 30_000

/** How many deaths in a row, this one included, when a process dies at `now`. Times in Unix milliseconds. */
export function nextStreak(
  last: { readonly streak: number; readonly answeredAt: number | null },
  now: number,
) {
  const wasHealthy = last.answeredAt !== null && now - last.answeredAt >= HEALTHY_AFTER_MS
  return wasHealthy ? 1 : last.streak + 1
}

/** How long to wait before the next start after `streak` deaths in a row: 100 ms, doubled each time, at most 30 s. */
export function backOffMs(streak: number): number {
  // 2 ** 9 times the shortest pause exceeds the longest; the exponent is bounded so that the result stays finite.
  return Math.min(LONGEST_BACK_OFF_MS, SHORTEST_BACK_OFF_MS * 2 ** Math.min(Math.max(streak - 1, 0), 9))
}
