import type { HandoverTrace } from '@fairlead/api'

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
