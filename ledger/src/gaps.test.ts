import { expect, test } from 'vitest'
import { fc } from '../../proof/properties.ts'
import { createGaps } from './gaps.ts'

test('silence of 3 ms or more is a gap, less is not', () => {
  const gaps = createGaps(1000)
  for (const nowMs of [1001, 1003.9, 1006.9, 1008]) gaps.acked(nowMs)
  expect(gaps.list()).toEqual([{ fromMs: 1003.9, toMs: 1006.9 }])
})

test('a gap that touches the window counts with its whole length, and any other gap not at all', () => {
  const gaps = createGaps(0)
  for (const nowMs of [10, 12, 14, 16, 36, 38]) gaps.acked(nowMs)
  expect(gaps.longestMs({ fromMs: 30, toMs: 40 }, 38)).toBe(20)
  expect(gaps.longestMs({ fromMs: 11, toMs: 15 }, 38)).toBe(0)
  expect(gaps.longestMs({ fromMs: 0, toMs: 15 }, 38)).toBe(10)
})

test('a database that never answers again is one long gap, during the load and after it', () => {
  const gaps = createGaps(0)
  gaps.acked(1)
  expect(gaps.longestMs({ fromMs: 400, toMs: 500 }, 500)).toBe(499)
  gaps.end(800)
  expect(gaps.longestMs({ fromMs: 400, toMs: 500 }, 9_999)).toBe(799)
  expect(gaps.list()).toEqual([{ fromMs: 1, toMs: 800 }])
})

test('however many gaps there are, the longest is remembered and memory is bounded', () => {
  const silences = fc.array(fc.double({ min: 0, max: 1_000, noNaN: true }), { minLength: 1, maxLength: 300 })
  fc.assert(
    fc.property(silences, (lengths) => {
      const gaps = createGaps(0, { most: 10 })
      let nowMs = 0
      let longest = 0
      for (const length of lengths) {
        longest = Math.max(longest, nowMs + length - nowMs)
        nowMs += length
        gaps.acked(nowMs)
      }
      expect(gaps.list().length).toBeLessThanOrEqual(10)
      const told = gaps.longestMs({ fromMs: 0, toMs: nowMs }, nowMs)
      if (longest >= gaps.leastMs) expect(told).toBe(longest)
      else expect(told).toBe(0)
    }),
  )
})
