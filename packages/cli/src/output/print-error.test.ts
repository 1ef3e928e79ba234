import { ApiError, type ErrorCode } from '@fairlead/api/lean'
import { expect, test, vi } from 'vitest'
import { faultTextOf, printError } from './print-error.ts'

test.each([true, false])('no control character of a server is told on stderr, as JSON: %s', (asJson) => {
  const said: string[] = []
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0)
  const evil = 'a\u001b[31m\u009b31mb'
  try {
    const error = new ApiError(409, evil as ErrorCode, evil, [])
    expect(printError(error, { asJson, isTerminal: true })).toBe(3)
  } finally {
    write.mockRestore()
  }
  expect(said.join('')).toContain('31mb')
  expect(said.join('')).not.toMatch(/[^\P{Cc}\n\t]/u)
})

test('what an answer of another version breaks is told as such, with what leads on', () => {
  const answer = {} as { readonly goal: { readonly engine: string } }
  let cause: unknown
  try {
    expect(answer.goal.engine).toBe('')
  } catch (thrown) {
    cause = thrown
  }
  expect(faultTextOf(cause)).toMatchObject({
    exit: 'failed',
    message: expect.stringContaining(
      'The answer is not as it was expected, or this program has a fault: Cannot read',
    ),
    next: expect.stringContaining('fairlead doctor'),
    code: 'internal_error',
  })
})

test('a file that is not there is told by its name, before anything is sent', () => {
  const cause = Object.assign(new Error('ENOENT'), { code: 'ENOENT', path: '/none' })
  expect(faultTextOf(cause)).toMatchObject({
    exit: 'usage',
    message: '/none: there is no such file; nothing was sent',
  })
})
