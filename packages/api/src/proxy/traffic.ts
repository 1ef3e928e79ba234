import { type Static, Type } from 'typebox'
import { socketOperation } from '../contract/operation.ts'

/** Upper bound of the first bucket in microseconds; each next one is √2 times as large, the last infinite. */
const FIRST_BOUND_US = 16
const BUCKETS = 41

/** Upper bounds of latency buckets, in microseconds: 16 µs to 11.9 s, and infinity. */
export const latencyBounds: readonly number[] = Array.from({ length: BUCKETS }, (_, n) =>
  n === BUCKETS - 1 ? Number.POSITIVE_INFINITY : FIRST_BOUND_US * 2 ** (n / 2),
)

/** The bucket for a latency. */
export function latencyBucket(microseconds: number): number {
  if (!(microseconds > FIRST_BOUND_US)) return 0
  return Math.min(BUCKETS - 1, Math.ceil(2 * Math.log2(microseconds / FIRST_BOUND_US)))
}

/** Counts of an endpoint since it was opened. */
export const Traffic = Type.Object({
  id: Type.String(),
  /** A new value: it was reopened, and counts from zero. Unix milliseconds. */
  since: Type.Integer(),
  /** Present clients. */
  connections: Type.Integer(),
  requests: Type.Number(),
  bytesIn: Type.Number(),
  bytesOut: Type.Number(),
  /** Sum over timed requests. */
  latencyUs: Type.Number(),
  /** Answers within each bound (`latencyBounds`), without those of smaller ones. */
  latencies: Type.Array(Type.Integer(), { minItems: BUCKETS, maxItems: BUCKETS }),
})
export type Traffic = Static<typeof Traffic>

/** Server → proxy. Omits endpoints without clients and requests. */
export const reportTraffic = socketOperation({
  method: 'GET',
  path: '/proxy/traffic',
  summary: 'Report what went through each endpoint',
  ok: Type.Object({ endpoints: Type.Array(Traffic) }),
})
