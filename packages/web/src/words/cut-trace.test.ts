import type { HandoverTrace } from '@fairlead/api'
import { expect, test } from 'vitest'
import { cutTrace, sayTick, ticksOf } from './cut-trace.ts'

const part = (from: number, to: number) => ({ from, to })
const trace: HandoverTrace = {
  action_uid: 'a',
  handover: 1,
  group: 0,
  from: '1',
  to: '2',
  t0: '2026-11-26T07:00:00Z',
  bucket_ms: 10,
  replies: [9, 8, 0, 0, 7, 9],
  held: [0, 0, 3, 4, 0, 0],
  errors: [0, 0, 0, 1, 0, 0],
  marks: {
    hold: part(20, 24),
    pause: part(24, 26),
    equal: part(26, 27),
    promote: part(27, 30),
    release: part(30, 35),
  },
}

test('a trace is cut around the time in which clients were held, and counts from its begin', () => {
  expect(cutTrace(trace, 10)).toEqual([
    { at: -10, replies: 8, held: 0, errors: 0 },
    { at: 0, replies: 0, held: 3, errors: 0 },
    { at: 10, replies: 0, held: 4, errors: 1 },
    { at: 20, replies: 7, held: 0, errors: 0 },
  ])
  expect(cutTrace(trace, 2_500)).toHaveLength(6)
})

test('a chart has its scale from end to end, however long the handover took', () => {
  expect(ticksOf(-250, 270)).toEqual([-200, -100, 0, 100, 200])
  expect(ticksOf(-2_500, 2_540)).toEqual([-2_000, -1_000, 0, 1_000, 2_000])
  expect(ticksOf(-250, 1_090)).toEqual([0, 500, 1_000])
  expect(ticksOf(-250, 650)).toEqual([-200, 0, 200, 400, 600])
  for (let to = 1; to < 5_000; to += 7) {
    const ticks = ticksOf(-250, to)
    expect(ticks.length).toBeGreaterThan(1)
    expect(ticks.length).toBeLessThanOrEqual(5)
  }
})

test('a moment of the chart is named by how long before or after the hold it is', () => {
  expect([-200, 0, 100, 2_000].map((ms) => sayTick(ms).join(' '))).toEqual([
    ...['200 ms before', '0 ms hold', '100 ms after', '2 s after'],
  ])
})
