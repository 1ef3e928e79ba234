import { expect, test } from 'vitest'
import { parseReply } from './parse-reply.ts'

test.each([
  ['+OK\r\n', 'OK'],
  ['-ERR no\r\n', { error: 'ERR no' }],
  ['!5\r\nERR x\r\n', { error: 'ERR x' }],
  [':-3\r\n', -3],
  ['$-1\r\n', null],
  ['_\r\n', null],
  ['*-1\r\n', null],
  ['$4\r\na\r\nb\r\n', 'a\r\nb'],
  ['%1\r\n+a\r\n~2\r\n#t\r\n:1\r\n', ['a', [1, 1]]],
  ['|1\r\n+ttl\r\n:1\r\n*1\r\n*0\r\n', [[]]],
])('%j is read as what it says', (text, value) => {
  expect(parseReply(Buffer.from(text))).toEqual(value)
})

test('a reply that is nested without an end is refused, one with many lists is not', () => {
  const nested = (deep: number) => Buffer.from(`${'*1\r\n'.repeat(deep)}:1\r\n`)
  expect(JSON.stringify(parseReply(nested(64)))).toBe(`${'['.repeat(64)}1${']'.repeat(64)}`)
  expect(() => parseReply(nested(65))).toThrow('the reply is nested more than 64 deep')
  expect(() => parseReply(nested(1_000_000))).toThrow('the reply is nested more than 64 deep')
  expect(parseReply(Buffer.from(`*1000\r\n${'*0\r\n'.repeat(1_000)}`))).toHaveLength(1_000)
  // Attributes stand before what they belong to, one behind the other.
  expect(() => parseReply(Buffer.from('|0\r\n'.repeat(1_000_000)))).toThrow(
    'the reply is nested more than 64 deep',
  )
})
