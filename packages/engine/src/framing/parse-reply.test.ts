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
