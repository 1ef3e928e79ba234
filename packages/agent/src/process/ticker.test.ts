import { expect, test, vi } from 'vitest'
import { createTicker } from './ticker.ts'

const PERIOD_MS = 1_000

/** Rests repeatedly until `untilMs`; returns the times at which it was woken. */
function restOn(rests: { rest(ms: number, wake: () => void): () => void }, untilMs: number) {
  const woken: number[] = []
  const again = () => {
    woken.push(performance.now())
    if (performance.now() < untilMs) rests.rest(PERIOD_MS, again)
  }
  rests.rest(PERIOD_MS, again)
  return woken
}

test('of eight loops that rest for a second each, two are woken at each quarter second, and each loop once a second', () => {
  using ticker = createTicker(PERIOD_MS)
  vi.advanceTimersByTime(130)
  const all = Array.from({ length: 8 }, () => restOn(ticker.join(), 5_000))
  vi.advanceTimersByTime(6_000)
  for (const woken of all) {
    expect(woken[0]).toBeLessThanOrEqual(performance.now() - 6_000 + PERIOD_MS)
    expect(new Set(woken.slice(1).map((at, n) => at - (woken[n] ?? 0)))).toEqual(new Set([PERIOD_MS]))
  }
  const moments = Map.groupBy(
    all.map((woken) => woken[1] ?? 0),
    (at) => at,
  )
  expect([...moments.values()].map(({ length }) => length)).toEqual([2, 2, 2, 2])
})

test('a rest that is shorter than the period ends exactly then, and a rest that was cancelled does not wake its loop', () => {
  using ticker = createTicker(PERIOD_MS)
  const { rest } = ticker.join()
  const woken: string[] = []
  rest(40, () => woken.push('short'))
  const endRest = rest(PERIOD_MS, () => woken.push('ended'))
  rest(PERIOD_MS, () => woken.push('long'))
  vi.advanceTimersByTime(39)
  expect(woken).toEqual([])
  vi.advanceTimersByTime(1)
  expect(woken).toEqual(['short'])
  endRest()
  vi.advanceTimersByTime(PERIOD_MS)
  expect(woken).toEqual(['short', 'long'])
  expect(vi.getTimerCount()).toBe(0)
})

test('a loop that now rests for less than before does not wait for the moment of the others', () => {
  const ticker = createTicker(PERIOD_MS)
  const [first, second] = [ticker.join(), ticker.join()]
  const woken: number[] = []
  first.rest(5 * PERIOD_MS, () => woken.push(performance.now()))
  second.rest(PERIOD_MS, () => woken.push(performance.now()))
  vi.advanceTimersByTime(PERIOD_MS)
  expect(woken).toHaveLength(1)
  ticker[Symbol.dispose]()
  expect(vi.getTimerCount()).toBe(0)
})
