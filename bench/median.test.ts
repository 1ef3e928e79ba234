import { expect, test } from 'vitest'
import { median } from './median.ts'

test('the median is the middle one, or the mean of the two in the middle', () => {
  expect([median([]), median([3]), median([5, 1, 3]), median([4, 1, 2, 3])]).toEqual([0, 3, 3, 2.5])
})
