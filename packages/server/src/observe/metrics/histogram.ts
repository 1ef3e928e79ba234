/** Counts of measured values by bucket. */
export interface Histogram {
  /** Upper bounds, rising. Values above the last are counted, too. */
  readonly bounds: readonly number[]
  /** Counts within each bound and above the previous one; the last: above all bounds. */
  readonly counts: readonly number[]
  readonly sum: number
}

/** A histogram that grows. */
export interface GrowingHistogram extends Histogram {
  observe(value: number): void
}

/** Creates an empty histogram. */
export function createHistogram(bounds: readonly number[]): GrowingHistogram {
  const counts = bounds.map(() => 0).concat(0)
  let sum = 0
  return {
    bounds,
    counts,
    get sum() {
      return sum
    },
    observe(value) {
      let n = 0
      while (n < bounds.length && value > (bounds[n] ?? 0)) n += 1
      counts[n] = (counts[n] ?? 0) + 1
      sum += value
    },
  }
}

/** Seconds, for durations from a millisecond to ten seconds. */
export const secondsBounds = [
  ...[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
  ...[1, 2, 5, 10],
] as const

/** Seconds, for statements. Most take less than a millisecond in an embedded store. */
export const statementBounds = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10] as const
