/** What was measured, by how much it was. */
export interface Histogram {
  /** Upper bounds, rising; what is above the last counts, too. */
  readonly bounds: readonly number[]
  /** How many were within each bound and above the one before; the last: above all. */
  readonly counts: readonly number[]
  readonly sum: number
}

/** A histogram that grows. */
export interface GrowingHistogram extends Histogram {
  observe(value: number): void
}

/** Nothing was measured yet. */
export function createHistogram(bounds: readonly number[]): GrowingHistogram {
  const counts = bounds.map(() => 0).concat(0)
  let sum = 0
  return {
    ...{ bounds, counts },
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

/** Seconds, for what takes from a millisecond to ten seconds. */
export const secondsBounds = [
  ...[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
  ...[1, 2, 5, 10],
] as const

/** Seconds, for statements: most of those of an embedded store take less than a millisecond. */
export const statementBounds = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10] as const
