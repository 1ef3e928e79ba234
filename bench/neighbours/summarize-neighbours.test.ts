import { expect, test } from 'vitest'
import { feltOf, isMet } from './summarize-neighbours.ts'

test('one request in a hundred may be slow, and the slowest is reported', () => {
  const took = Array.from({ length: 1_000 }, (_, n) => (n < 9 ? 500 : 1))
  expect(feltOf(took)).toEqual({ answers: 1_000, p50: 1, p99: 1, max: 500 })
  expect(isMet(feltOf(took))).toBe(true)
  expect(isMet(feltOf([...took, 500, 500]))).toBe(false)
  expect(isMet(feltOf([]))).toBe(false)
})
