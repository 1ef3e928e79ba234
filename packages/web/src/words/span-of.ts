import { duration } from './format.ts'

/** An interval of a series, as far as it says when it was. */
interface Interval {
  readonly stime: string
  readonly etime: string
}

/** The time that a series shows, from the first interval in which anything was measured, as "2 min"; null: nothing was yet. */
export function spanOf(intervals: readonly Interval[], names: readonly string[]): string | null {
  const first = intervals.find((one) => names.some((name) => name in one))
  const last = intervals.at(-1)
  if (first === undefined || last === undefined) return null
  return duration(Date.parse(last.etime) - Date.parse(first.stime))
}
