import { upgradeDatabase } from '@fairlead/api'
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
