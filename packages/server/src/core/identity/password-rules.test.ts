import { expect, test } from 'vitest'
import { isExpired, passwordFaults } from './password-rules.ts'

const strict = { minLength: 8, complexity: true }
const faults = (password: string, names: readonly string[] = ['mia@example.org']) =>
  passwordFaults(password, strict, names).length

test('length counts characters, not bytes or code units', () => {
  const lengthOnly = { minLength: 8, complexity: false }
  expect(passwordFaults('🐚🐚🐚🐚🐚🐚🐚', lengthOnly, [])).toEqual(['must have at least 8 characters'])
  expect(passwordFaults('🐚🐚🐚🐚🐚🐚🐚🐚', lengthOnly, ['🐚'])).toEqual([])
})

test('a complex password has all four kinds, in any script', () => {
  expect([faults('Correct1!'), faults('Правильно-1'), faults('Correct 1')]).toEqual([0, 0, 0])
  for (const lacking of ['correct1!', 'CORRECT1!', 'Correct!!', 'Correct11'])
    expect([lacking, faults(lacking)]).toEqual([lacking, 1])
})

test('a complex password does not contain a name or an e-mail, in any letter case or direction', () => {
  for (const hiding of ['1!Mia@Example.org', '1!GRO.elpmaxe@aim'])
    expect([hiding, faults(hiding)]).toEqual([hiding, 1])
  expect(faults('Correct1!', ['', 'other'])).toBe(0)
})

test('a complex password repeats no character more than three times in a row', () => {
  expect([faults('Correccct1!'), faults('Correcccct1!'), faults('cCcCcCc1!')]).toEqual([0, 1, 0])
})

test('a password expires a number of days after its last change; zero days are never', () => {
  const day = 86_400_000
  expect([isExpired(0, 30, 30 * day - 1), isExpired(0, 30, 30 * day), isExpired(0, 0, 1e15)]).toEqual([
    false,
    true,
    false,
  ])
})
