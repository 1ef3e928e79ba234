import { expect, test } from 'vitest'
import { judgeCommand } from './judge-command.ts'

const wordsOf = (command: string | readonly string[], args?: readonly string[]) =>
  judgeCommand({ command, args }).words?.map((word) => word.toString('latin1'))
const whyNot = (command: string, args?: readonly string[]) => judgeCommand({ command, args }).obstacle?.why

test.each([
  ['GET key', ['GET', 'key']],
  ['  SET\tkey  value ', ['SET', 'key', 'value']],
  ['SET key "two words"', ['SET', 'key', 'two words']],
  ['SET key "a \\"b\\" \\n \\x00\\xff \\q"', ['SET', 'key', 'a "b" \n \x00\xff q']],
  ["SET key 'it\\'s \\n'", ['SET', 'key', "it's \\n"]],
  ['SET key ""', ['SET', 'key', '']],
  ["SET '' ''", ['SET', '', '']],
])('the line %j is these words', (line, words) => expect(wordsOf(line)).toEqual(words))

test('words in a list are taken as they are, and arguments after a line or a list too', () => {
  expect(wordsOf(['SET', 'a "b', ' c '])).toEqual(['SET', 'a "b', ' c '])
  expect(wordsOf('SET', ['a "b', ' c '])).toEqual(['SET', 'a "b', ' c '])
  expect(wordsOf('CONFIG GET', ['save'])).toEqual(['CONFIG', 'GET', 'save'])
  expect(wordsOf(['SET', 'a'], [''])).toEqual(['SET', 'a', ''])
})

test('arguments are judged as the words of a line are', () => {
  expect(whyNot('CLIENT', ['REPLY', 'OFF'])).toContain('CLIENT REPLY')
  expect(whyNot('XREAD', ['BLOCK', '0', 'STREAMS', 'a', '$'])).toContain('waits')
})

test.each(['SET key "open', "SET key 'open", 'SET key "a"b', 'a"b"', '', '   ', '""'])(
  'the line %j is no command',
  (command) => expect(judgeCommand({ command }).obstacle).toMatchObject({ code: 'command_not_allowed' }),
)

test.each([
  'BLPOP a 0',
  'brpoplpush a b 0',
  'XREAD BLOCK 0 STREAMS a $',
  'XREADGROUP GROUP streams c BLOCK 0 STREAMS a >',
  'xreadgroup group g c count 1 block 5 streams a >',
  'WAIT 1 0',
  'SUBSCRIBE a',
  '"monitor"',
  'PSYNC ? -1',
  'MULTI',
  'AUTH other password',
  'HELLO 3',
  'SELECT 1',
  'SCRIPT DEBUG YES',
  'client reply off',
])('%s is not given', (line) => {
  expect(whyNot(line)).toMatch(/^[A-Z]+( [A-Z]+)? (waits|is about|has replies)/)
})

test.each([
  'XREAD COUNT 1 STREAMS block 0',
  'XREADGROUP GROUP block streams COUNT 1 STREAMS a >',
  'SCRIPT LOAD "return 1"',
  'CLIENT LIST',
  'PUBLISH a b',
  'constructor',
  'FLUSHALL',
  'EVAL "return redis.call(\'BLPOP\', KEYS[1], 0)" 1 a',
])('%s is given', (line) => expect(whyNot(line)).toBeUndefined())
