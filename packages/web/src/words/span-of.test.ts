import { expect, test } from 'vitest'
import { spanOf } from './span-of.ts'

const at = (second: number, more: object = { conns: 1 }) => ({
  stime: new Date(second * 1_000).toISOString(),
  etime: new Date((second + 10) * 1_000).toISOString(),
  ...more,
})

test('a series says for how long it was measured, not for how long it could be', () => {
  const two = Array.from({ length: 12 }, (_, n) => at(n * 10))
  expect(spanOf(two, ['conns'])).toBe('2 min')
  expect(spanOf([at(0, {}), at(10, {}), at(20)], ['conns'])).toBe('10 s')
  expect(spanOf([], ['conns'])).toBeNull()
})
