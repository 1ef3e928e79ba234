import type { AnsweredInterval } from '@fairlead/api'
import type { Values } from './columns.ts'
import type { Point } from './series.ts'

/** Of which kept interval a longer one is made, and of how many. */
export const composed = {
  '15min': { of: '5min', parts: 3 },
  '12hour': { of: '1hour', parts: 12 },
} as const satisfies Partial<
  Record<AnsweredInterval, { readonly of: AnsweredInterval; readonly parts: number }>
>

/** One of those that are made of others. */
export type ComposedInterval = keyof typeof composed

/**
 * Longer intervals from the points of shorter ones (in order, `parts` of them to each). One that has not ended by `endSlot` (of the short ones) is left out. Of parts that
 * were not measured nothing is known: the values are those of the others.
 */
export function compose(points: readonly Point[], parts: number, endSlot: number): readonly Point[] {
  const bySlot = Map.groupBy(points, ({ slot }) => Math.floor(slot / parts))
  return [...bySlot]
    .filter(([slot]) => (slot + 1) * parts <= endSlot)
    .map(([slot, group]) => ({ slot, values: meanOf(group.map(({ values }) => values)) }))
}

/** Means; of latencies, which are for each request, the mean is weighted with the requests. Quantiles cannot be added: the greatest is an upper bound. */
function meanOf(parts: readonly Values[]): Values {
  const names = new Set(parts.flatMap((values) => Object.keys(values)))
  return Object.fromEntries([...names].map((name) => [name, meanOfOne(name, parts)]))
}

function meanOfOne(name: string, parts: readonly Values[]): number {
  const measured = parts.filter((values) => values[name] !== undefined)
  const numbers = measured.map((values) => values[name] ?? 0)
  if (name === 'latency_p50' || name === 'latency_p99') return Math.max(...numbers)
  const weights = measured.map((values) => (name === 'avg_latency' ? (values['total_req'] ?? 0) : 1))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  if (total === 0) return numbers[0] ?? 0
  return numbers.reduce((sum, number, n) => sum + number * (weights[n] ?? 0), 0) / total
}
