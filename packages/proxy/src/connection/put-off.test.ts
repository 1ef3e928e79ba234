import { expect, test } from 'vitest'
import {
  ANOTHER_MS,
  FEWEST_TIMES,
  LONGEST_REQUEST_MS,
  LONGEST_SERIES_MS,
  notPutOff,
  overdueFor,
  putOffAgain,
  QUIET_MS,
} from './handover-delay.ts'

/**
 * Delays a hold repeatedly, at these intervals in milliseconds. Returns when others have waited long enough;
 * null: never.
 */
function overdueAfter(everyMs: number, tries: number, requestOf: (n: number) => number): number | null {
  let putOff = putOffAgain(null, requestOf(0), 0)
  for (let n = 1; n <= tries; n += 1) {
    putOff = putOffAgain(putOff, requestOf(n), n * everyMs)
    if (overdueFor(putOff, n * everyMs) !== null) return n * everyMs
  }
  return null
}

test('a request that takes very long is overdue after a minute, and not before it has delayed a few holds', () => {
  expect(overdueAfter(5_000, 100, () => 1)).toBe(LONGEST_REQUEST_MS)
  expect(overdueAfter(40_000, 100, () => 1)).toBe((FEWEST_TIMES - 1) * 40_000)
})

test('one long request after the other becomes overdue later', () => {
  expect(overdueAfter(10_000, 100, (n) => n)).toBe(LONGEST_SERIES_MS)
})

test('a few long requests do not count as a long delay', () => {
  expect(overdueAfter(10_000, 5, (n) => n)).toBeNull()
})

test('a hold in between that the client did not delay changes nothing, a minute without one begins a new count', () => {
  const putOff = putOffAgain(null, 1, 0)
  expect(notPutOff(putOff, QUIET_MS)).toBe(putOff)
  expect(notPutOff(putOff, QUIET_MS + 1)).toBeNull()
})

test('holds that are minutes apart are of one handover, after five minutes of another', () => {
  expect(overdueAfter(150_000, 10, (n) => n)).toBe((FEWEST_TIMES - 1) * 150_000)
  expect(overdueAfter(ANOTHER_MS + 1, 10, (n) => n)).toBeNull()
})
