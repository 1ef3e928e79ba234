import { expect, test } from 'vitest'
import { createRing } from './ring.ts'
import { createSeries, type Sample } from './series.ts'

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
  const points = series.points('bdb', 7, '10sec', 0, slotOf(start + 9 * ms10))
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
  const points = series.points('bdb', 7, '10sec', 0, slotOf(start) + 3)
  expect(points.map(({ values }) => [values['total_req'], values['no_of_keys']])).toEqual([
    ...[[0, 5] as const, [100, 6] as const],
    ...[[0, 6] as const, [50, 9] as const],
  ])
})

test('an interval that ends has the means of all its looks, also of those in which nothing happened, and is told once', () => {
  const series = createSeries()
  const looks = 30
  const counts = Array.from({ length: 41 }, () => 0)
  counts[3] = 100
  series.take(start, [database(0)])
  for (let n = 1; n < looks; n += 1) {
    const at = start + n * ms10
    const latencies = { microseconds: 4_000, counts }
    if (n !== 10) series.take(at, [])
    else series.take(at, [{ ...database(300), latencies }])
  }
  const [closed, ...others] = series.take(start + 300_000, [])
  expect(others).toEqual([])
  expect(closed).toMatchObject({ interval: '5min', slot: start / 300_000 })
  expect(closed?.points).toHaveLength(1)
  expect(closed?.points[0]?.values).toMatchObject({ total_req: 10, no_of_keys: 5, avg_latency: 40 })
  expect(closed?.points[0]?.values['latency_p99']).toBeGreaterThan(
    closed?.points[0]?.values['latency_p50'] ?? 0,
  )
  expect(series.points('bdb', 7, '5min', 0, start / 300_000)).toHaveLength(1)

  const later = createSeries()
  if (closed !== undefined) later.restore(closed)
  expect(later.points('bdb', 7, '5min', 0, start / 300_000)).toMatchObject([{ values: { total_req: 10 } }])
  expect(later.last('bdb', 7)).toBeNull()
})

test('beyond the memory limit, the series that were idle for the longest are dropped first', () => {
  const series = createSeries(1)
  series.take(start, [database(100)])
  expect(series.size).toMatchObject({ dropped: 0 })
  series.take(start + 300_000, [])
  expect(series.size).toMatchObject({ bytes: 0, dropped: 1 })
  expect(series.uids('bdb')).toEqual([7])
  series.forget('bdb', 7)
  expect(series.uids('bdb')).toEqual([])
})
