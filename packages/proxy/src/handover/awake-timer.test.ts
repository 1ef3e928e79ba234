import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { awakeTimer, SLICE_MS } from './awake-timer.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a deadline counts of a moment in which the thread stands still no more than a slice', () => {
  const act = vi.fn()
  awakeTimer(4 * SLICE_MS + 100, act)
  // What a stalled thread finds when it goes on: of all its timers only those that had begun are due.
  for (let slice = 0; slice < 4; slice += 1) vi.runOnlyPendingTimers()
  expect(act).not.toHaveBeenCalled()
  vi.runOnlyPendingTimers()
  expect(act).toHaveBeenCalledOnce()
})

test('without a stall it ends in its time, unless it was disposed of', () => {
  const [act, none] = [vi.fn(), vi.fn()]
  awakeTimer(2_000, act)
  awakeTimer(2_000, none)[Symbol.dispose]()
  vi.advanceTimersByTime(1_999)
  expect(act).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(act).toHaveBeenCalledOnce()
  vi.advanceTimersByTime(10_000)
  expect(none).not.toHaveBeenCalled()
})
