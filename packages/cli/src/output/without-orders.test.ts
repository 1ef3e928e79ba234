import { expect, test } from 'vitest'
import { asJson, inOneLine, withoutOrders } from './without-orders.ts'

// A window title, two colours, a return, a delete; reversed text; a line end that programs do not see.
const evil = 'a\u001b]0;b\u0007\u001b[31m\u009b31m\r\u007f\u202ec\u2066d\u2028e'

test('nothing that a terminal obeys is left, nor what turns text around', () => {
  expect(withoutOrders(evil)).toBe('a?]0;b??[31m?31m???c?d?e')
  expect(withoutOrders('Füße\n\tキー 🔑')).toBe('Füße\n\tキー 🔑')
  expect(inOneLine('a\nb\r\n\tc')).toBe('a b c')
})

test('JSON keeps each value whole, and has nothing of it as it is', () => {
  const text = asJson([evil])
  expect(text).not.toMatch(/[\p{Cc}\u202e\u2066\u2028]/u)
  expect(JSON.parse(text)).toEqual([evil])
})
