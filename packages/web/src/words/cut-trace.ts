import type { HandoverTrace } from '@fairlead/api'
import { duration } from './format.ts'

/** One bucket of a trace. `at`: its begin, in milliseconds from the moment when clients were held. */
export interface Bucket {
  readonly at: number
  readonly replies: number
  readonly held: number
  readonly errors: number
}

/** The buckets from `aroundMs` before clients were held until as long after they were served. */
export function cutTrace(trace: HandoverTrace, aroundMs: number): readonly Bucket[] {
  const { bucket_ms: length, replies, held, errors, marks } = trace
  const begin = marks.hold.from
  const all = replies.map((count, n) => ({
    at: n * length - begin,
    replies: count,
    held: held[n] ?? 0,
    errors: errors[n] ?? 0,
  }))
  const end = marks.release.to - begin + aroundMs
  return all.filter(({ at }) => at >= -aroundMs && at <= end)
}

/** What stands below a moment of the chart, in two lines: "200 ms" and "before". */
export function sayTick(ms: number): readonly [string, string] {
  if (ms === 0) return ['0 ms', 'hold']
  return [duration(Math.abs(ms)), ms < 0 ? 'before' : 'after']
}

/** More would touch each other on a phone. */
const MOST_TICKS = 5
/** Of the whole, at each end: what stands nearer to an end would be cut. */
const MARGIN = 0.04

/** Milliseconds to stand below a chart that goes from one to the other: 0 and what is as far from it, up to both ends. */
export function ticksOf(from: number, to: number): readonly number[] {
  const [first, last] = [from + MARGIN * (to - from), to - MARGIN * (to - from)]
  const power = 10 ** Math.floor(Math.log10(Math.max(to - from, 1) / MOST_TICKS))
  const counts = (step: number) => Math.floor(last / step) - Math.ceil(first / step) + 1
  const step = [1, 2, 5, 10, 20].map((n) => n * power).find((each) => counts(each) <= MOST_TICKS) ?? to - from
  return Array.from({ length: counts(step) }, (_, n) => (Math.ceil(first / step) + n) * step)
}
