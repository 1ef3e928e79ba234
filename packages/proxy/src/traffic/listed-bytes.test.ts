import { expect, test } from 'vitest'
import { countListed, forgetListed } from './listed-bytes.ts'

const MB = 1024 * 1024

test('lists that are not read have a bound over all clients, and small ones are always possible', () => {
  const listers = Array.from({ length: 20 }, () => ({ listedBytes: 0 }))
  expect(listers.map((each) => countListed(each, 4 * MB)).filter(Boolean)).toHaveLength(16)
  const [first] = listers
  const late = { listedBytes: 0 }
  const sizes = [MB, 64 * 1024, 1]
  expect(sizes.map((bytes) => countListed(late, bytes))).toEqual([false, true, false])
  forgetListed(first ?? late)
  expect(countListed(late, 4 * MB - 64 * 1024)).toBe(true)
  for (const each of [late, ...listers]) forgetListed(each)
  expect(countListed(late, 64 * MB)).toBe(true)
  forgetListed(late)
})
