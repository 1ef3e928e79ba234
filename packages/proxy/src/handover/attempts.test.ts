import { expect, test } from 'vitest'
import { LONGEST_REQUEST_MS, LONGEST_SERIES_MS } from '../connection/put-off.ts'
import { type Attempts, areAllOverdue, attemptAgain, LONGEST_CLOSED_MS } from './attempts.ts'

/** Attempts that are this many milliseconds apart. After how many milliseconds `is` was first true; null: never. */
function firstTime(everyMs: number, isSo: (attempts: Attempts, nowMs: number) => boolean): number | null {
  let attempts: Attempts | null = null
  for (let nowMs = 0; nowMs < 3_600_000; nowMs += everyMs) {
    attempts = attemptAgain(attempts, nowMs)
    if (isSo(attempts, nowMs)) return nowMs
  }
  return null
}

const isClosed = ({ closedMs }: Attempts) => closedMs !== null

test('after minutes of attempts long requests that begin have to wait, and a minute later all that are under way are overdue', () => {
  expect(firstTime(15_000, isClosed)).toBe(LONGEST_SERIES_MS)
  expect(firstTime(3_000, areAllOverdue)).toBe(LONGEST_SERIES_MS + LONGEST_REQUEST_MS)
})

test('long requests wait for two minutes at most, then for another five no more', () => {
  const waited = LONGEST_SERIES_MS + LONGEST_CLOSED_MS
  expect(firstTime(10_000, (attempts, nowMs) => nowMs > LONGEST_SERIES_MS && !isClosed(attempts))).toBe(
    waited,
  )
  expect(firstTime(10_000, (attempts, nowMs) => nowMs > waited && isClosed(attempts))).toBe(
    waited + LONGEST_SERIES_MS,
  )
})

test('attempts that are more than a minute apart are not of one handover', () => {
  expect(firstTime(61_000, isClosed)).toBeNull()
})
