import { expect, test } from 'vitest'
import { ANOTHER_MS, LONGEST_REQUEST_MS, LONGEST_SERIES_MS, QUIET_MS } from '../connection/handover-delay.ts'
import {
  type Attempts,
  areAllOverdue,
  attemptAgain,
  gotStuck,
  gotThrough,
  LONGEST_CLOSED_MS,
} from './attempts.ts'

/**
 * Attempts that are this many milliseconds apart. After how many milliseconds `is` was first true; null:
 * never.
 */
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

test('attempts that are more than five minutes apart are not of one handover', () => {
  expect(firstTime(ANOTHER_MS + 1, isClosed)).toBeNull()
})

test('attempts that get through to a hold now and then do not begin the count again; a minute of them does', () => {
  const stuck = gotStuck(attemptAgain(null, 0))
  const through = gotThrough(stuck, 1_000)
  expect(through).toMatchObject({ times: 1, sinceMs: 0 })
  const again = gotThrough(gotStuck(through), 2_000)
  expect(gotThrough(again, 1_999 + QUIET_MS)).toMatchObject({ sinceMs: 0 })
  expect(gotThrough(again, 2_000 + QUIET_MS)).toBeNull()
})
