import { describe, expect, test } from 'vitest'
import { databaseOf } from '../../../test/records.ts'
import { boundRules, readRules } from './acl-rules.ts'
import { usersOf, whyUnsayable, wordsOf } from './database-users.ts'

const valkey91 = { flavour: 'valkey', version: '9.1.2' } as const
const redis60 = { flavour: 'redis', version: '6.0.16' } as const
const denied = '-@admin -migrate -restore-asking -script|debug'

function rulesOf(text: string) {
  const rules = readRules(text)
  if ('fault' in rules) throw new Error(rules.fault)
  return rules
}

describe('a rule', () => {
  test('is read as commands, keys and channels, with further ones in parentheses', () => {
    expect(rulesOf('+@READ -get allkeys &news (%rw~a +set|b)')).toEqual([
      { keys: ['~*'], channels: ['&news'], databases: 'all', commands: ['+@read', '-get'] },
      { keys: ['~a'], channels: [], databases: 'all', commands: ['+set|b'] },
    ])
    expect(rulesOf('~a resetkeys %R~b &a resetchannels nocommands')[0]).toMatchObject({
      keys: ['%R~b'],
      channels: [],
      commands: ['-@all'],
    })
  })

  const faults: readonly (readonly [rule: string, part: string])[] = [
    ['+get >secret', 'passwords are those of the users'],
    [`+get #${'a'.repeat(64)}`, 'passwords are those of the users'],
    ['nopass +get', 'nopass is no part of a rule'],
    ['on ~*', 'on is no part of a rule'],
    ['(+get reset)', 'reset is no part of a rule'],
    ['+get (~a (~b))', 'parenthesis'],
    ['+get)', 'parenthesis'],
    ['db=0', 'a word that is none of'],
    ['skip-sanitize-payload', 'a word that is none of'],
  ]
  test.for(faults)('that is none is refused, without repeating a password: %s', ([rule, part]) => {
    const fault = readRules(rule)
    expect(fault).toEqual({ fault: expect.stringContaining(part) })
    expect(JSON.stringify(fault)).not.toContain('secret')
  })
})

describe('whatever a rule says', () => {
  const commandsOf = (text: string, build: Parameters<typeof boundRules>[1], inCluster = false) =>
    boundRules(rulesOf(text)[0], build, inCluster).commands.join(' ')

  test('administration and commands beyond the database stay denied', () => {
    expect(commandsOf('+@all +config|set +migrate', valkey91)).toBe(`+@all +config|set +migrate ${denied}`)
  })

  test('before Redis 7 harmless parts of such commands are given where the rule allows them, and only there', () => {
    const before = '-@admin -migrate -restore-asking -script'
    expect(commandsOf('+get', redis60)).toBe(`+get ${before}`)
    expect(commandsOf('+@all', redis60)).toContain('+script|load')
    expect(commandsOf('+@all', redis60)).toContain('+client|setname')
    expect(commandsOf('+@all -@dangerous', redis60)).not.toContain('+client|setname')
    expect(commandsOf('+@all -@dangerous', redis60)).toContain('+script|load')
    expect(commandsOf('-@all +client|setname', redis60)).toBe(`-@all ${before} +client|setname`)
    // An engine of that age still allows it after -@admin.
    const administration = '+config|get +acl|list +client|kill +memory|usage'
    expect(commandsOf(administration, redis60)).toMatch(/^\+memory\|usage -/)
    expect(commandsOf(administration, valkey91)).toContain('+config|get')
    expect(commandsOf('+@all', redis60)).not.toContain('cluster|')
    expect(commandsOf('+@all', redis60, true)).toContain('+cluster|slots')
  })
})

describe('the users of a database', () => {
  const digests = ['a'.repeat(64), 'b'.repeat(64)]
  const mark = `#${'0'.repeat(64)}`

  test('have all of their passwords, and the rules of all of their roles', () => {
    const users = [{ name: 'eve', digests, rules: ['+get ~a', '+set ~b'] }]
    expect(usersOf(databaseOf({ users }), valkey91)).toEqual({
      defaultUser: true,
      users: [
        {
          name: 'eve',
          words: [
            ...['on', ...digests.map((digest) => `#${digest}`), mark],
            ...['~a', 'resetchannels', '+get', ...denied.split(' ')],
            `(~b resetchannels +set ${denied})`,
          ],
        },
      ],
    })
  })

  test('are none without a known password, and none with a name that an engine cannot have or that is ours', () => {
    const rules = ['+get ~a']
    const users = ['default', 'Fairlead', 'two words'].map((name) => ({ name, digests, rules }))
    const unknown = { name: 'eve', digests: [], rules }
    expect(usersOf(databaseOf({ users: [...users, unknown], defaultUser: false }), valkey91)).toEqual({
      defaultUser: false,
      users: [],
    })
  })

  test('get fewer rights where an engine has no words for them, and the rule is refused there', () => {
    expect(wordsOf(['+get ~a', '+set ~b'], redis60, false)[0]).toBe('~a')
    expect(wordsOf(['+get ~a', '+set ~b'], redis60, false).join(' ')).not.toContain('(')
    expect(whyUnsayable(rulesOf('+get ~a &* (+set ~b &*)'), redis60)).toContain('parentheses')
    expect(whyUnsayable(rulesOf('+get %R~a &*'), redis60)).toContain('reading or writing only')
    expect(whyUnsayable(rulesOf('+get ~a'), redis60)).toContain('channels')
    expect(whyUnsayable(rulesOf('+get ~a &news'), redis60)).toContain('channels')
    expect(whyUnsayable(rulesOf('+get ~a &*'), redis60)).toBeUndefined()
    expect(whyUnsayable(rulesOf('+get %R~a &news (+set ~b)'), valkey91)).toBeUndefined()
  })
})
