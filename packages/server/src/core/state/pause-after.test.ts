import { expect, test } from 'vitest'
import { pauseAfter } from './pause-after.ts'

test('a handover that cannot hold its clients is tried again soon, and less often the more often the same client delays it', () => {
  expect([0, 1, 2, 3].map(pauseAfter)).toEqual([3_000, 3_000, 4_500, 6_750])
})

test('but no more than 15 s apart', () => {
  expect([5, 6, 50, 5_000].map(pauseAfter)).toEqual([15_000, 15_000, 15_000, 15_000])
})
