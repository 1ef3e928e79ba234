import { expect, test } from 'vitest'
import { backOffMs, nextStreak } from './decide-restart.ts'

test('the pause before a restart doubles from 100 ms to 30 s', () => {
  expect([1, 2, 3, 4, 9, 10, 1000].map(backOffMs)).toEqual([100, 200, 400, 800, 25_600, 30_000, 30_000])
})

test('a minute of health ends a series of deaths', () => {
  expect(nextStreak({ streak: 5, answeredAt: null }, 1_000_000)).toBe(6)
  expect(nextStreak({ streak: 5, answeredAt: 1_000_000 }, 1_059_999)).toBe(6)
  expect(nextStreak({ streak: 5, answeredAt: 1_000_000 }, 1_060_000)).toBe(1)
})
