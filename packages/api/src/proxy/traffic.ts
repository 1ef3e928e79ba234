import { type Static, Type } from 'typebox'
import { operation } from '../contract/operation.ts'

/** The upper bound of the first bucket, in microseconds; each next bound is √2 times as large. The last bucket has no bound. */
const FIRST_BOUND_US = 16
const BUCKETS = 41

/** The upper bounds of the buckets of a latency histogram, in microseconds: 16 µs to 11.9 s, and all that is longer. */
export const latencyBounds: readonly number[] = Array.from({ length: BUCKETS }, (_, n) =>
  n === BUCKETS - 1 ? Number.POSITIVE_INFINITY : FIRST_BOUND_US * 2 ** (n / 2),
)

/** The bucket of a request that was answered after so many microseconds. */
export function latencyBucket(microseconds: number): number {
  if (!(microseconds > FIRST_BOUND_US)) return 0
  return Math.min(BUCKETS - 1, Math.ceil(2 * Math.log2(microseconds / FIRST_BOUND_US)))
}

/** What went through an endpoint since it was opened. */
export const Traffic = Type.Object({
  id: Type.String(),
  /** Another one: it was opened anew, and counts anew. Unix milliseconds. */
  since: Type.Integer(),
  /** Clients, now. */
  connections: Type.Integer(),
  requests: Type.Number(),
  bytesIn: Type.Number(),
  bytesOut: Type.Number(),
  /** Of the requests that were timed. */
  latencyUs: Type.Number(),
  /** How many were answered within each bound (`latencyBounds`), without those of smaller ones. */
  latencies: Type.Array(Type.Integer(), { minItems: BUCKETS, maxItems: BUCKETS }),
})
export type Traffic = Static<typeof Traffic>

/** Server → proxy. Endpoints without a client and without a request since they were opened are left out. */
export const reportTraffic = operation({
  method: 'GET',
  path: '/proxy/traffic',
  summary: 'Report what went through each endpoint',
  since: '0.1.0',
  permission: null,
  ok: Type.Object({ endpoints: Type.Array(Traffic) }),
  errors: [],
})
