import { expect, test } from 'vitest'
import { parseOnce } from './parse-once.ts'

/** A list of so many numbers that begin with `first`. */
const list = (first: number, count = 10_000) =>
  Buffer.from(`*${count}\r\n${Array.from({ length: count }, (_, n) => `:${first + n}\r\n`).join('')}`)

test('a large reply in the same bytes is parsed once, another one by itself, and a few are kept', () => {
  const first = parseOnce(list(1))
  expect(parseOnce(list(1))).toBe(first)
  expect(parseOnce(list(2))).toEqual(Array.from({ length: 10_000 }, (_, n) => n + 2))
  for (let n = 3; n < 20; n += 1) parseOnce(list(n))
  const again = parseOnce(list(1))
  expect(again).not.toBe(first)
  expect(again).toEqual(first)
})

test('short replies are values of their own', () => {
  const [one, other] = [parseOnce(list(1, 10)), parseOnce(list(1, 10))]
  expect(one).toEqual(other)
  expect(one).not.toBe(other)
})
