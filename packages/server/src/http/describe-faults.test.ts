import { authorizeUser, createRole, getAction, PageQuery, upgradeDatabase } from '@fairlead/api'
import { expect, test } from 'vitest'
import { compileValidator } from './compile-validator.ts'

const check = compileValidator({ schema: upgradeDatabase.body, httpPart: 'body' })

test('a value of one of two kinds is refused in one sentence that names both, with what the field is for', () => {
  expect(check({ rollback_window: 'forever' }).error?.message).toMatch(
    /^rollback_window: must be an integer from 0 to 2592000 or "until_finalized" \(Ours: how long [^;]*\)$/,
  )
})

test('a text of another form is refused with examples, not with a pattern', () => {
  expect(check({ engine_version: 'latest' }).error?.message).toBe(
    'engine_version: must be of this form: A version like "8.1", "8.1.1" or "valkey-8.1"; the newest when absent',
  )
})

test('a text with NUL or with half a character, and a number that is infinite, is refused in every place, with the name of the field', () => {
  const words = (schema: object, httpPart: string, value: unknown) =>
    compileValidator({ schema, httpPart })(value).error?.message
  const nul = 'must not have the character NUL (U+0000)'
  expect(words(authorizeUser.body, 'body', { username: 'a\0b', password: 'x' })).toBe(`username: ${nul}`)
  const half = 'must not have half of a surrogate pair: it is no character'
  expect(words(authorizeUser.body, 'body', { username: 'a\ud800b', password: 'x' })).toBe(`username: ${half}`)
  expect(words(authorizeUser.body, 'body', { username: 'a\u{1f600}b', password: 'x' })).toBe(undefined)
  const resources = [{ type: 'db', uids: ['1', '2\0'] }]
  expect(words(createRole.body, 'body', { name: 'a', management: 'db_viewer', resources })).toContain(
    'resources.0.uids.1: must',
  )
  expect(words(getAction.params, 'params', { uid: 'a\0' })).toBe(`uid: ${nul}`)
  for (const name of ['limit', 'offset'])
    for (const text of ['1e999', '-1e999'])
      expect(words(PageQuery, 'querystring', { [name]: text })).toMatch(new RegExp(`^${name}: must be`))
})
