import type { StatisticsInterval } from '@fairlead/api'
import type { Values } from './columns.ts'

/** The values of one thing in one slot of ten seconds, or in one interval of several slots. */
export interface Point {
  readonly slot: number
  readonly values: Values
}

/** Milliseconds of a slot: one measurement. */
export const SLOT_MS = 10_000
/** Slots in each interval that is answered. */
export const slotsIn = { '10sec': 1, '5min': 30, '15min': 90, '1hour': 360 } as const satisfies Record<
  StatisticsInterval,
  number
>

/** Returns the number of the slot, counted from 1970, that contains this moment. */
export function slotOf(atMs: number): number {
  return Math.floor(atMs / SLOT_MS)
}

/**
 * Makes intervals of `parts` slots from points in order. Leaves out an interval that has not ended by
 * `endSlot`. An interval with unmeasured slots has the values of the others.
 */
export function compose(points: readonly Point[], parts: number, endSlot: number): readonly Point[] {
  const bySlot = Map.groupBy(points, ({ slot }) => Math.floor(slot / parts))
  return [...bySlot]
    .filter(([slot]) => (slot + 1) * parts <= endSlot)
    .map(([slot, group]) => ({ slot, values: meanOf(group.map(({ values }) => values)) }))
}

/** Means. The mean latency is weighted with the requests; of quantiles the greatest is an upper bound. */
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
