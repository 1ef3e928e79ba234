import { expect, test } from 'vitest'
import { spread } from './summarize.ts'

test('the median of an even number of values lies between the two in the middle', () => {
  expect(spread([4, 1, 3, 2])).toEqual({ median: 2.5, max: 4 })
  expect(spread([5, 1, 3])).toEqual({ median: 3, max: 5 })
  expect(spread([])).toEqual({ median: 0, max: 0 })
})
