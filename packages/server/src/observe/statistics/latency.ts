import { latencyBounds } from '@fairlead/api'
import type { Values } from './columns.ts'

/** The requests of some time, by how long they took. */
export interface Latencies {
  readonly microseconds: number
  readonly counts: readonly number[]
}

/** Both together. */
export function addLatencies(one: Latencies | null, other: Latencies | null): Latencies | null {
  if (one === null || other === null) return one ?? other
  return {
    microseconds: one.microseconds + other.microseconds,
    counts: one.counts.map((count, n) => count + (other.counts[n] ?? 0)),
  }
}

/** Mean, p50 and p99, in microseconds; nothing where there was no request. */
export function describeLatencies(latencies: Latencies | null): Values {
  const total = latencies?.counts.reduce((sum, count) => sum + count, 0) ?? 0
  if (latencies === null || total === 0) return {}
  return {
    avg_latency: latencies.microseconds / total,
    latency_p50: quantile(latencies.counts, total * 0.5),
    latency_p99: quantile(latencies.counts, total * 0.99),
  }
}

/** Within a bucket, times are taken to lie evenly; in the last, at its lower bound. */
function quantile(counts: readonly number[], rank: number): number {
  let below = 0
  for (const [n, count] of counts.entries()) {
    if (count > 0 && below + count >= rank) {
      const from = latencyBounds[n - 1] ?? 0
      const to = latencyBounds[n] ?? from
      return Number.isFinite(to) ? from + ((to - from) * (rank - below)) / count : from
    }
    below += count
  }
  return 0
}
