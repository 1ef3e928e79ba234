import type { Build } from '@fairlead/api'
import { describe, expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { ancient, newer, older } from '../../../test/commands.ts'
import { usersToCarry as carriedInSteps } from './acl.ts'
import type { AclDialect } from './acl-dialect.ts'
import type { CommandTable } from './command-rights.ts'
import { atOnce } from './in-steps.ts'

const dialect = (flavour: Build['flavour'], version: string, commands: CommandTable): AclDialect => ({
  build: { flavour, version },
  commands,
})
const redis60 = dialect('redis', '6.0.16', ancient)
const redis62 = dialect('redis', '6.2.14', ancient)
const redis70 = dialect('redis', '7.0.15', older)
const valkey81 = dialect('valkey', '8.1.1', newer)
const valkey91 = dialect('valkey', '9.1.2', newer)

const places = (from: AclDialect, to: AclDialect, inCluster = false) => ({ from, to, inCluster })

const [DIGEST, OTHER, ADMINS] = ['a', 'b', 'c'].map((digit) => digit.repeat(64))
const given = '+@all -@admin -migrate -restore-asking -script|debug'
const ours = [`user default on #${DIGEST} ~* &* ${given}`, `user fairlead on #${ADMINS} ~* &* +@all`]

function usersToCarry(...asked: Parameters<typeof carriedInSteps>) {
  return atOnce(carriedInSteps(...asked))
}

const nothing = { set: [], remove: [], obstacles: [], lost: [] }

function carry(from: readonly string[], to: readonly string[], there = valkey81, here = redis70) {
  return usersToCarry([...ours, ...from], [...ours, ...to], places(here, there))
}

function rulesOf(line: string, there = valkey81, here = redis70): string | undefined {
  return carry([line], [], there, here).set.at(0)?.rules.join(' ')
}

describe('equal rights in other words', () => {
  const same: readonly (readonly [what: string, here: string, there: string])[] = [
    ['a smaller category inside a larger one', `${given} -@dangerous`, `${given} -@dangerous -@admin`],
    ['the order of keys', '~a ~b +get', '~b ~a +get'],
    ['keys beside all keys', '~* ~a +get', '~* +get'],
    ['the order of channels', '&a &b', '&b &a'],
    ['the order of passwords', `#${DIGEST} #${OTHER}`, `#${OTHER} #${DIGEST}`],
    ['the order of selectors', '(~a +get) (~b +set)', '(~b +set) (~a +get)'],
    ['words that are the default', 'sanitize-payload -@all +get', '+get'],
    ['a command by its subcommands', '-@all +config', '-@all +config|get +config|set +config'],
    ['no commands, explicitly or not', 'resetchannels -@all', ''],
  ]
  test.for(same)('%s', ([, here, there]) => {
    expect(carry([`user app on ${here}`], [`user app on ${there}`], redis70)).toEqual(nothing)
  })

  test('all databases, explicitly or not', () => {
    expect(carry(['user app on'], ['user app on alldbs'], valkey91, redis70).set).toEqual([])
  })
})

describe('different', () => {
  const different: readonly (readonly [what: string, here: string, there: string])[] = [
    ['on', 'on', 'off'],
    ['a password', `on #${DIGEST}`, `on #${OTHER}`],
    ['one password more', `on #${DIGEST} #${OTHER}`, `on #${OTHER}`],
    ['no password needed', 'on nopass', `on #${OTHER}`],
    ['a key', 'on ~a', 'on ~b'],
    ['a key to read only', 'on %R~a', 'on ~a'],
    ['reading apart from writing', 'on %R~a %W~a', 'on ~a'],
    ['a channel', 'on &a', 'on &*'],
    ['a command', 'on +get', 'on +set'],
    ['a subcommand', 'on +config', 'on +config -config|set'],
    ['a first argument', 'on +select|0', 'on +select|1'],
    ['commands to come', 'on +@all', 'on +@all -@all +@read +@write +@connection +client +config'],
    ['a selector', 'on (~a +get)', 'on (~a +set)'],
    ['a selector in place of the root', 'on ~a +get', 'on (~a +get)'],
    ['checking of payloads', 'on skip-sanitize-payload', 'on'],
  ]
  test.for(different)('%s', ([, here, there]) => {
    expect(carry([`user app ${here}`], [`user app ${there}`], redis70).set).toMatchObject([{ name: 'app' }])
  })

  test('the numbers of databases', () => {
    const set = carry(['user app on db=0,1'], ['user app on db=0'], valkey91, valkey91).set
    expect(set).toEqual([{ name: 'app', rules: ['on', 'resetchannels', 'resetdbs', 'db=0,1'] }])
  })
})

describe('which users', () => {
  test('one that is missing is set, one that is gone is removed, and the administrator is left alone', () => {
    const from = ['user new on +get', `user fairlead on #${OTHER} ~* &* +@all`]
    expect(carry(from, ['user old on +get'])).toEqual({
      set: [{ name: 'new', rules: ['on', 'resetchannels', '+get'] }],
      remove: ['old'],
      obstacles: [],
      lost: [],
    })
  })

  test('a user whose rules cannot be read is neither carried nor removed', () => {
    const result = carry(['user app on ip=10.0.0.1 +get'], ['user app on +get'])
    expect(result).toMatchObject({ set: [], remove: [] })
    expect(result.obstacles).toEqual(['user app: it has rules that Fairlead does not know (ip)'])
    expect(carry(['user b\ufffdn on'], []).obstacles).toEqual(['user b\ufffdn: it is not written in UTF-8'])
    expect(carry(['user app on (~a +get'], []).obstacles).toEqual([
      'user app: it has rules that Fairlead does not know (a sign)',
    ])
  })

  const parenthesis =
    'it has a selector with a parenthesis in a rule, where its engine ends the selector at the next start'
  const beyond: readonly (readonly [rules: string, why: string])[] = [
    [`+get ${' '.repeat(1024 * 1024)}`, 'its rules are longer than 1 MB, and are not read'],
    ['~a '.repeat(2_001), 'it has more than 2000 words of rules'],
    ['(+get) '.repeat(101), 'it has more than 100 selectors'],
    ['-@all +get (~x) ~s:* resetchannels -@all +set +del)', parenthesis],
    ['-@all +get (~a -@all +get) (~x ~s) -@all +set)', parenthesis],
    ['-@all +get (~a +get|b(c -@all +get)', parenthesis],
  ]
  test.for(beyond)(
    'a user beyond the limits of reading is not carried over, and the obstacle names it: %#',
    ([rules, why]) => {
      const read = carry([`user app on ${rules}`, 'user b on +get'], ['user app on +get'])
      expect(read).toMatchObject({ set: [{ name: 'b' }], remove: [], obstacles: [`user app: ${why}`] })
    },
  )

  test('a user exactly at these limits is carried over', () => {
    const rules = `${'~a '.repeat(1_798)}${'(+get +set) '.repeat(100)}`
    expect(carry([`user app on ${rules}`], [])).toMatchObject({ set: [{ name: 'app' }], obstacles: [] })
  })

  const changes = [
    'on nopass ~* &* +@all -@admin',
    `on #${DIGEST} ~app:* &* +@all -@admin`,
    `on #${DIGEST} ~* &* +@all`,
    `on #${DIGEST} #${OTHER} ~* &* +@all -@admin`,
  ]
  test('a `default` is on or off as it is there, and users of Fairlead’s making are left alone', () => {
    const [on = '', admin = ''] = ours
    const off = on.replace('default on', 'default off')
    const mark = '0'.repeat(64)
    const made = (name: string) => `user ${name} on #${DIGEST} #${mark} ~* &* +@all`
    const pair = places(redis70, valkey81)
    expect(usersToCarry([on, admin, made('a')], [off, admin, made('b')], pair)).toEqual(nothing)
    expect(usersToCarry([off, admin], [on, admin], pair)).toEqual(nothing)
  })

  test.for(changes)('a `default` that a user has changed stays changed: %s', (change) => {
    const from = [`user default ${change}`]
    const { set } = usersToCarry(from, ours, places(redis70, valkey81))
    expect(set).toMatchObject([{ name: 'default' }])
    const then = `user default ${set[0]?.rules.join(' ')}`
    expect(usersToCarry(from, [then], places(redis70, valkey81)).set).toEqual([])
    // When it is changed back on the source, it is changed back here, too.
    expect(usersToCarry(ours, [then], places(redis70, valkey81)).set).toMatchObject([
      { name: 'default', rules: ['on', `#${DIGEST}`, '~*', 'resetchannels', '&*', ...given.split(' ')] },
    ])
  })

  test('a `default` of an older Fairlead counts as unchanged, and gets the rules of today', () => {
    const before = [`user default on #${DIGEST} ~* &* +@all -@admin`]
    expect(usersToCarry(before, ours, places(redis70, valkey81))).toEqual(nothing)
    expect(usersToCarry(ours, before, places(redis70, valkey81)).set).toEqual([
      { name: 'default', rules: ['on', `#${DIGEST}`, '~*', 'resetchannels', '&*', ...given.split(' ')] },
    ])
  })

  test('an unchanged `default` keeps what was written for its build', () => {
    const old = `user default on #${DIGEST} ~* +@all -@admin +client|setname +client|getname +client|id +client|reply +client|tracking +acl|whoami`
    expect(usersToCarry([old], ours, places(redis60, valkey81))).toEqual(nothing)
    expect(usersToCarry([`${old} -get`], ours, places(redis60, valkey81)).set).toHaveLength(1)
  })

  test('in cluster mode too, on the way there and on the way back', () => {
    const asked = ['slots', 'nodes', 'keyslot', 'info', 'myid', 'countkeysinslot']
    const script = 'load exists flush kill help'.split(' ').map((name) => `+script|${name}`)
    const old = `user default on #${DIGEST} ~* +@all -@admin -migrate -restore-asking -script ${script.join(' ')} +client|setname +client|getname +client|id +client|reply +client|tracking +acl|whoami${asked.map((what) => ` +cluster|${what}`).join('')}`
    expect(usersToCarry([old], ours, places(redis60, valkey81, true))).toEqual(nothing)
    expect(usersToCarry(ours, [old], places(valkey81, redis60, true))).toEqual(nothing)
  })
})

describe('in the words of the target', () => {
  test('a user of redis 6.0 may use all channels; from 6.2 on its rules say so', () => {
    expect(rulesOf('user app on ~* +get', redis62, redis60)).toBe('on ~* resetchannels &* +get')
    expect(rulesOf('user app on ~* +get', redis60, redis60)).toBe('on ~* +get')
  })

  test('a command that is allowed in part is allowed by its first arguments where it has no subcommands', () => {
    expect(
      rulesOf('user app on ~* &* +@all -@scripting -migrate -restore-asking -client|kill', redis62, redis70),
    ).toBe('on ~* resetchannels &* +@all -@scripting -migrate -restore-asking -client +client|id')
    expect(rulesOf('user app on ~* &* -@all +client|id +client|kill', redis62, redis70)).toContain('+client')
  })

  test('selectors, keys by permission and passwords go over as they are', () => {
    expect(rulesOf(`user app off #${DIGEST} #${OTHER} %R~a ~b resetchannels &c -@all (~d &* +get)`)).toBe(
      `off #${DIGEST} #${OTHER} %R~a ~b resetchannels &c -@all (~d resetchannels &* +get)`,
    )
  })

  test('unchecked payloads need no word where all users are treated alike', () => {
    expect(rulesOf('user app on skip-sanitize-payload &* +get', redis60, redis62)).toBe('on +get')
    expect(rulesOf('user app on skip-sanitize-payload +get', valkey91)).toBe('on resetchannels +get')
    expect(rulesOf('user app on skip-sanitize-payload +get')).toContain('skip-sanitize-payload')
  })

  const unsayable: readonly (readonly [line: string, there: AclDialect, here: AclDialect, what: string])[] = [
    ['&a', redis60, redis62, 'channels'],
    ['&* %R~a', redis62, redis70, 'read-only or write-only keys'],
    ['&* (~a &* +get)', redis62, redis70, 'selectors'],
    ['resetdbs db=0', valkey81, valkey91, 'numbered databases'],
  ]
  test.for(unsayable)(
    'a user is not carried at all rather than with other rights: %s',
    ([words, there, here, what]) => {
      const { set, obstacles } = carry([`user app on #${OTHER} ${words}`], [], there, here)
      expect(set.filter(({ name }) => name === 'app')).toEqual([])
      const { flavour, version } = there.build
      expect(obstacles).toEqual([`user app: ${flavour} ${version} has no words for its ${what}`])
    },
  )

  test('a command that the target lacks is lost when it was granted by name, which is told, and the rest is carried', () => {
    const result = carry(['user app on +get +hexpire', 'user b on +@all -hexpire'], [], redis70, valkey81)
    expect(result.set.map(({ rules }) => rules.join(' '))).toEqual([
      'on resetchannels +get',
      'on resetchannels +@all -migrate -restore-asking -script|debug',
    ])
    expect(result.obstacles).toEqual([])
    expect(result.lost).toEqual(['user app: it may use hexpire, which redis 7.0.15 does not have'])
  })
})

const aRule = fc.oneof(
  fc.constantFrom('+migrate', '-migrate', '+script|debug', '+script'),
  fc.constantFrom('on', 'off', 'nopass', 'skip-sanitize-payload', `#${DIGEST}`, `#${OTHER}`),
  fc.constantFrom('~a', '~*', '%R~b', '%W~b', '&c', '&*'),
  fc.constantFrom('+@all', '-@admin', '+@read', '-client|kill', '+client', '+select|0', '-get', '+hexpire'),
  fc.constantFrom('(~d +get)', '(%W~e &f +@all -@admin)'),
)
const someUsers = fc
  .dictionary(fc.constantFrom('x', 'y', 'default'), fc.array(aRule, { maxLength: 8 }))
  .map((users) =>
    Object.entries(users).map(([name, rules]) =>
      `user ${['', ...rules].join(' ')}`.replace('user', `user ${name}`),
    ),
  )
const dialects = fc.constantFrom(redis60, redis70, valkey81, valkey91)

test('a user that was carried once is not carried again, and no message holds a digest', () => {
  fc.assert(
    fc.property(someUsers, someUsers, dialects, dialects, (from, to, here, there) => {
      const first = usersToCarry(from, to, places(here, there))
      const names = first.set.map(({ name }) => name)
      const kept = to.filter((line) => ![...names, ...first.remove].includes(line.split(' ')[1] ?? ''))
      const after = [...kept, ...first.set.map(({ name, rules }) => `user ${name} ${rules.join(' ')}`)]
      const again = usersToCarry(from, after, places(here, there))
      expect(again).toEqual({ ...nothing, obstacles: first.obstacles, lost: first.lost })
      expect([...first.obstacles, ...first.lost].join()).not.toMatch(/[0-9a-f]{64}/)
    }),
  )
})
