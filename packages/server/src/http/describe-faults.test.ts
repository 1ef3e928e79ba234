import { authorizeUser, createRole, getAction, PageQuery, upgradeDatabase } from '@fairlead/api'
import { expect, test } from 'vitest'
import { compileValidator } from './compile-validator.ts'

const check = compileValidator({ schema: upgradeDatabase.body, httpPart: 'body' })

test('a value of one of two kinds is refused in one sentence that names both, with what the field is for', () => {
  expect(check({ rollback_window: 'forever' }).error?.message).toMatch(
    /^rollback_window: must be an integer from 0 to 2592000 or "until_finalized" \(Ours: how long [^;]*\)$/,
  )
})

test('a value of a text or a list of texts is refused in one sentence, wherever it is wrong', () => {
  for (const wrong of [1, ['a', 1], { a: 1 }])
    expect(check({ modules: [{ new_module_args: wrong }] }).error?.message).toMatch(
      /^modules\.0\.new_module_args: must be a string or an array of strings( \([^;]*\))?$/,
    )
})

test('a text of another form is refused with examples, not with a pattern', () => {
  expect(check({ engine_version: 'latest' }).error?.message).toBe(
    'engine_version: must be of this form: A version like "8.1", "8.1.1" or "valkey-8.1"; the newest when absent',
  )
})

test('a list or a text of another length, and a value that can only be one, is refused in a sentence', () => {
  const role = compileValidator({ schema: createRole.body, httpPart: 'body' })
  const resources = [{ type: 'bdb', uids: [] }]
  expect(role({ name: 'x'.repeat(257), management: 'db_viewer', resources }).error?.message).toBe(
    [
      'name: must have at most 256 characters (Letters, digits, spaces and _ [ ] ( ) @ , )',
      'resources.0.type: can only be "db"',
      'resources.0.uids: must have at least 1 element',
    ].join('; '),
  )
})

test('a text with NUL or with half a character, and a number that is infinite, is refused in every place, with the name of the field', () => {
  const words = (schema: object, httpPart: string, value: unknown) =>
    compileValidator({ schema, httpPart })(value).error?.message
  const nul = 'must not have the character NUL (U+0000)'
  expect(words(authorizeUser.body, 'body', { username: 'a\0b', password: 'x' })).toBe(`username: ${nul}`)
  const half = 'must not have half of a surrogate pair, which is not a character'
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

test('of a body with thousands of faults the first are named, however many come: more would keep the server for seconds', () => {
  const login = compileValidator({ schema: authorizeUser.body, httpPart: 'body' })
  const many = Object.fromEntries(Array.from({ length: 26_000 }, (_, n) => [`x${n}`, 1]))
  const { message = '' } = login(many).error ?? {}
  const named = message.split('; ')
  expect(named.slice(0, 3)).toEqual([
    'username: is missing',
    'password: is missing',
    'x0: is not a field of the body',
  ])
  expect([named.length, named.at(-1)]).toEqual([21, 'and more'])

  const modules = Array.from({ length: 100_000 }, () => 1)
  const refused = check({ modules, engine_version: 1 }).error?.message ?? ''
  expect(refused).toMatch(/^.*modules: must have at most 64 elements.*; and more$/s)
  expect(refused.split('; ')).toHaveLength(21)
})

test('a name of a field that is too long for a message is cut', () => {
  const login = compileValidator({ schema: authorizeUser.body, httpPart: 'body' })
  const message = login({ username: 'a', password: 'b', ['y'.repeat(200_000)]: 1 }).error?.message
  expect(message).toBe(`${'y'.repeat(100)}…: is not a field of the body`)
})

test('of a list with thousands of wrong characters the first places are named', () => {
  const schema = { type: 'object', properties: { list: { type: 'array', items: { type: 'string' } } } }
  const list = compileValidator({ schema, httpPart: 'body' })
  const named = (list({ list: Array(1_000).fill('1\0') }).error?.message ?? '').split('; ')
  expect(named.slice(-2)).toEqual(['list.19: must not have the character NUL (U+0000)', 'and more'])
})
