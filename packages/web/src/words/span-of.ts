import { duration } from './format.ts'

/** The times of an interval. */
interface Interval {
  readonly stime: string
  readonly etime: string
}

/** The length of a series from its first measured interval, like "2 min"; null: no measurement yet. */
export function spanOf(intervals: readonly Interval[], names: readonly string[]): string | null {
  const first = intervals.find((one) => names.some((name) => name in one))
  const last = intervals.at(-1)
  if (first === undefined || last === undefined) return null
  return duration(Date.parse(last.etime) - Date.parse(first.stime))
}
