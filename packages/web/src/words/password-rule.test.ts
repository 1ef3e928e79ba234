import { expect, test } from 'vitest'
import { passwordRule } from './password-rule.ts'

test('the rule for a password says what this cluster asks for', () => {
  expect(passwordRule({ password_min_length: 12, password_complexity: false })).toBe('at least 12 characters')
  expect(passwordRule({ password_min_length: 8, password_complexity: true })).toMatch(
    /^at least 8 characters, with a capital and a small letter, a digit/,
  )
  expect(passwordRule(null)).toBe('at least 8 characters; this cluster may ask for more')
})
