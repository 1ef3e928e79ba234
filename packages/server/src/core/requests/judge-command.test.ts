import { expect, test } from 'vitest'
import { judgeCommand } from './judge-command.ts'

const wordsOf = (given: string | readonly string[]) =>
  judgeCommand(given).words?.map((word) => word.toString('latin1'))

test.each([
  ['GET key', ['GET', 'key']],
  ['  SET\tkey  value ', ['SET', 'key', 'value']],
  ['SET key "two words"', ['SET', 'key', 'two words']],
  ['SET key "a \\"b\\" \\n \\x00\\xff \\q"', ['SET', 'key', 'a "b" \n \x00\xff q']],
  ["SET key 'it\\'s \\n'", ['SET', 'key', "it's \\n"]],
  ['SET key ""', ['SET', 'key', '']],
  ["SET '' ''", ['SET', '', '']],
])('the line %j is these words', (line, words) => expect(wordsOf(line)).toEqual(words))

test('words in a list are taken as they are', () => {
  expect(wordsOf(['SET', 'a "b', ' c '])).toEqual(['SET', 'a "b', ' c '])
})

test.each(['SET key "open', "SET key 'open", 'SET key "a"b', 'a"b"', '', '   ', '""'])(
  'the line %j is no command',
  (line) => expect(judgeCommand(line).obstacle).toMatchObject({ code: 'command_not_allowed' }),
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
  expect(judgeCommand(line).obstacle?.why).toMatch(/^[A-Z]+( [A-Z]+)? (waits|is about|has replies)/)
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
])('%s is given', (line) => expect(judgeCommand(line).obstacle).toBeUndefined())
