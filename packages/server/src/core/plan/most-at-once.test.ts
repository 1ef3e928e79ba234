import { expect, test } from 'vitest'
import { mostAtOnce } from './most-at-once.ts'

test.each([
  [0, 600],
  [3, 200],
  [24, 25],
  [32, 18],
  [48, 12],
  [64, 9],
  [128, 8],
])('of a cluster of %i nodes, %i join or leave at once', (nodes, most) => {
  expect(mostAtOnce(nodes)).toBe(most)
})
