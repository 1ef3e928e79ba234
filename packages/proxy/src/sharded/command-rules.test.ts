import { expect, test } from 'vitest'
import { findFirstKey, readCommandRules } from './command-rules.ts'

const request = (words: string) => {
  const list = words.split(' ')
  return Buffer.from(`*${list.length}\r\n${list.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`)
}

/** An entry of COMMAND from redis 6.0.16: seven fields, without the places of keys. */
const ofRedis6 = (name: string, flags: readonly string[], first: number) =>
  `*7\r\n$${name.length}\r\n${name}\r\n:-3\r\n*${flags.length}\r\n${flags.map((flag) => `+${flag}\r\n`).join('')}:${first}\r\n:0\r\n:0\r\n*0\r\n`

test.for([
  ['EVALSHA abc 1 {a}job x', '{a}job'],
  ['EVAL code 0 x', null],
  ['XREAD COUNT 2 STREAMS one two 0 0', 'one'],
  ['ZUNIONSTORE to 2 one two', 'to'],
  ['SET key value', 'key'],
  ['PING x', null],
] as const)(
  'on redis 6.0, which does not report the places of keys, the first key of %s is found',
  async ([words, key]) => {
    const movable = ['evalsha', 'eval', 'xread', 'zunionstore'].map((name) =>
      ofRedis6(name, ['movablekeys'], 0),
    )
    const answer = [...movable, ofRedis6('set', ['write'], 1), ofRedis6('ping', ['fast'], 0)]
    const rules = await readCommandRules(Buffer.from(`*${answer.length}\r\n${answer.join('')}`))
    const rule = rules.known.get(words.split(' ')[0] ?? '') ?? rules.other
    const found = findFirstKey(rule, request(words), true)
    expect(found === null ? null : String(found)).toBe(key)
  },
)
