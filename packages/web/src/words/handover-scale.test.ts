import { expect, test } from 'vitest'
import { placesOn, scaleOf } from './handover-scale.ts'

const long = { hold: 8, pause: 78, equal: 0, promote: 15, release: 22 }
const short = { hold: 3, pause: 4, equal: 0, promote: 15, release: 18 }

test('all handovers have one scale, so that equal times are equally long', () => {
  const scale = scaleOf([short, long])
  expect(scale).toEqual({ end: 150, ticks: [0, 50, 100, 150] })
  const widthOf = (times: typeof long, part: string) =>
    placesOn(scale, times).find(({ name }) => name === part)?.width
  expect(widthOf(short, 'promote')).toBe(widthOf(long, 'promote'))
  expect(widthOf(long, 'promote')).toBe(10)
})

test('each part begins where the one before it ends, and none is drawn longer than it took', () => {
  expect(placesOn(scaleOf([short]), short).map(({ left, width }) => [left, width])).toEqual([
    ...[
      [0, 7.5],
      [7.5, 10],
      [17.5, 0],
      [17.5, 37.5],
      [55, 45],
    ],
  ])
})

test('a scale ends at a number that stands on it, whatever was measured', () => {
  const endOf = (pause: number) => scaleOf([{ hold: 0, pause, equal: 0, promote: 0, release: 0 }]).end
  expect([0, 2.3, 9, 41, 835, 1_001].map(endOf)).toEqual([1, 2.5, 10, 50, 1_000, 1_500])
  expect(scaleOf([]).ticks.length).toBeLessThanOrEqual(6)
})
