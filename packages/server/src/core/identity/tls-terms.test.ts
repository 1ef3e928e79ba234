import { expect, test } from 'vitest'
import { whyRenew } from './tls-terms.ts'

const terms = { hosts: ['localhost', '127.0.0.1'], fromMs: 1_000, toMs: 4_000 }

test('a certificate is renewed when less than a third of its life is left, and not before', () => {
  const at = (nowMs: number) => whyRenew(terms, ['localhost'], nowMs)
  expect([1_000, 2_999, 3_000].map(at)).toEqual([undefined, undefined, undefined])
  expect(at(3_001)).toBe('less than a third of its life is left')
  expect(at(4_000)).toBe('it has expired')
})

test('one that was made while the clock was wrong, or for other names, is renewed', () => {
  expect(whyRenew(terms, [], 999)).toBe('it is not valid yet')
  expect(whyRenew(terms, ['localhost', '::1'], 2_000)).toBe('it does not prove ::1')
})
