import type { HandoverTrace } from '@fairlead/api'
import { duration } from './format.ts'

/** A bucket of a trace. `at`: its begin, in milliseconds since the hold began. */
export interface Bucket {
  readonly at: number
  readonly replies: number
  readonly held: number
  readonly errors: number
}

/** The buckets from `aroundMs` before the hold to `aroundMs` after its end. */
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

/** The two lines of a tick: "200 ms" and "before". */
export function sayTick(ms: number): readonly [string, string] {
  if (ms === 0) return ['0 ms', 'hold']
  return [duration(Math.abs(ms)), ms < 0 ? 'before' : 'after']
}

/** More would touch each other on a phone. */
const MOST_TICKS = 5
/** Fraction at each end without ticks, where labels would be cut. */
const MARGIN = 0.04

/** Milliseconds of ticks for a chart with this range: 0 and equal distances up to both ends. */
export function ticksOf(from: number, to: number): readonly number[] {
  const [first, last] = [from + MARGIN * (to - from), to - MARGIN * (to - from)]
  const power = 10 ** Math.floor(Math.log10(Math.max(to - from, 1) / MOST_TICKS))
  const counts = (step: number) => Math.floor(last / step) - Math.ceil(first / step) + 1
  const step = [1, 2, 5, 10, 20].map((n) => n * power).find((each) => counts(each) <= MOST_TICKS) ?? to - from
  return Array.from({ length: counts(step) }, (_, n) => (Math.ceil(first / step) + n) * step)
}
