import { expect, test } from 'vitest'
import { compose, type Point } from './compose.ts'
import { createRing, createSeries, type Sample } from './series.ts'

const start = Date.UTC(2026, 10, 23, 12)
const ms10 = 10_000
const slotOf = (atMs: number) => Math.floor(atMs / ms10)

function database(total_req: number, keys = 5): Sample {
  return { kind: 'bdb', uid: 7, values: { total_req, no_of_keys: keys }, latencies: null }
}

test('a ring keeps the last rows, finds the one before a gap, and grows as it is filled', () => {
  const ring = createRing(['a', 'b'], 6)
  const empty = ring.bytes
  expect(ring.at(1)).toBeNull()
  for (let slot = 10; slot < 30; slot += 2) ring.write(slot, { a: slot })
  expect(ring.at(29)).toEqual({ slot: 28, values: { a: 28 } })
  expect(ring.at(19)).toEqual({ slot: 18, values: { a: 18 } })
  expect(ring.at(17)).toBeNull()
  ring.write(28, { b: 1 })
  expect(ring.at(28)).toEqual({ slot: 28, values: { b: 1 } })
  expect(ring.bytes).toBeGreaterThan(empty)
  expect(ring.bytes).toBe(6 * 4 + 6 * 2 * 4)
})

test('an idle object takes no memory, and has values in each measured interval', () => {
  const series = createSeries()
  series.take(start, [database(0)])
  series.take(start + ms10, [])
  series.take(start + 4 * ms10, [])
  expect(series.size.bytes).toBe(0)
  const points = series.points('bdb', 7, 0, slotOf(start + 9 * ms10))
  expect(points.map(({ slot }) => slot - slotOf(start))).toEqual([0, 1, 4])
  expect(points[2]?.values).toEqual({ total_req: 0, no_of_keys: 5 })
  expect(series.last('bdb', 7)).toEqual({ slot: slotOf(start) + 4, values: { total_req: 0, no_of_keys: 5 } })
})

test('values are kept, and in idle intervals rates are 0 and sizes stay', () => {
  const series = createSeries()
  series.take(start, [database(0)])
  series.take(start + ms10, [database(100, 6)])
  series.take(start + 2 * ms10, [])
  series.take(start + 3 * ms10, [database(50, 9)])
  const points = series.points('bdb', 7, 0, slotOf(start) + 3)
  expect(points.map(({ values }) => [values['total_req'], values['no_of_keys']])).toEqual([
    ...[[0, 5] as const, [100, 6] as const],
    ...[[0, 6] as const, [50, 9] as const],
  ])
})

test('a longer interval has the means of its parts, when it has ended', () => {
  const part = (slot: number, values: Point['values']): Point => ({ slot, values })
  const parts = [
    part(30, { total_req: 10, avg_latency: 100, latency_p99: 500, used_memory: 3_000 }),
    part(31, { total_req: 30, avg_latency: 200, latency_p99: 900, used_memory: 6_000 }),
    // The other parts were not measured, and this one has no latency.
    part(62, { total_req: 0, used_memory: 6_000 }),
    part(63, { total_req: 6, avg_latency: 50, latency_p99: 70, used_memory: 6_000 }),
    part(90, { total_req: 99 }),
  ]
  expect(compose(parts, 30, 91)).toEqual([
    part(1, { total_req: 20, avg_latency: 175, latency_p99: 900, used_memory: 4_500 }),
    part(2, { total_req: 3, avg_latency: 50, latency_p99: 70, used_memory: 6_000 }),
  ])
})

test('beyond the memory limit, the series that were idle for the longest are dropped first', () => {
  const series = createSeries(1)
  series.take(start, [database(100)])
  expect(series.size).toMatchObject({ bytes: 0, dropped: 1 })
  expect(series.uids('bdb')).toEqual([7])
  series.forget('bdb', 7)
  expect(series.uids('bdb')).toEqual([])
})
