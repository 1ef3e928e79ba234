import { expect, test } from 'vitest'
import type { Lane } from './fold-steps.ts'
import { timeLineOf } from './time-line.ts'

const at = (seconds: number) => new Date(1_000 * seconds).toISOString()
const step = (began: number | null, ended: number | null) =>
  ({
    began: began === null ? null : at(began),
    ended: ended === null ? null : at(ended),
  }) as Lane['steps'][number]
const lane = (...steps: Lane['steps']) => ({ steps }) as Lane
const roundOf = (value: number) => Math.round(value * 10) / 10

test('the length of a step on the line is its time, on one scale for all groups', () => {
  const [first, second] = [lane(step(0, 2), step(2, 10)), lane(step(5, 8), step(null, null))]
  const line = timeLineOf([first, second], 20_000)
  const placed = (which: Lane) => line.placesOf(which).map(({ left, width }) => [left, width].map(roundOf))
  expect(placed(first)).toEqual([
    [0, 20],
    [20, 80],
  ])
  expect(placed(second)).toEqual([[50, 30]])
  expect(line.ticks.map(({ words }) => words)).toEqual(['0 s', '10 s'])
  expect(line.cuts).toEqual([])
})

test('a step that runs is as long as until now, and a window of days is cut, and says so', () => {
  const days = 2 * 86_400
  const running = lane(step(0, 10), step(days, null))
  const line = timeLineOf([running], (days + 10) * 1_000)
  const [before, after] = line.placesOf(running)
  expect(before?.width).toBeCloseTo(after?.width ?? 0)
  expect(before?.width).toBeGreaterThan(30)
  expect(line.cuts).toMatchObject([{ words: '2 d without a step' }])
})

test('before the first step there is no line', () => {
  expect(timeLineOf([lane(step(null, null))], 0)).toMatchObject({ ticks: [], cuts: [] })
})
