import { describe, expect, test } from 'vitest'
import { ancient, older, withModule } from '../../../test/commands.ts'
import type { AclDialect } from './acl-dialect.ts'
import { commandTable } from './command-rights.ts'
import { atOnce } from './in-steps.ts'
import { areAsGiven, usersToLimit } from './within-reach.ts'

const redis60: AclDialect = { build: { flavour: 'redis', version: '6.0.16' }, commands: ancient }
const redis70: AclDialect = { build: { flavour: 'redis', version: '7.0.15' }, commands: older }
const withSearch: AclDialect = { build: { flavour: 'valkey', version: '9.1.2' }, commands: withModule }

function wordsFor(line: string, dialect = redis70): string | undefined {
  return atOnce(usersToLimit([line], dialect))
    .at(0)
    ?.words.join(' ')
}

const everything = '-migrate -restore-asking -script|debug'

describe('a user does not reach beyond its database', () => {
  const limited: readonly (readonly [rules: string, words: string])[] = [
    ['+@all -@admin', everything],
    ['+@all', everything],
    ['+@all -@admin -migrate', '-restore-asking -script|debug'],
    ['-@all +@write', '-migrate -restore-asking'],
    ['-@all +@scripting', '-script|debug'],
    ['-@all +script', '-script|debug'],
  ]
  test.for(limited)('a right that came with a category is taken away: %s', ([rules, words]) => {
    expect(wordsFor(`user app on ~* &* ${rules}`)).toBe(words)
    expect(wordsFor(`user app on ~* &* ${rules} ${words}`)).toBeUndefined()
  })

  test.for(['+@all -@dangerous -script|debug', '-@all +client', '-@all +get +set', '-@all +script|load', ''])(
    'a user that does not reach beyond its database is left alone: %s',
    (rules) => {
      expect(wordsFor(`user app on ~* &* ${rules}`)).toBeUndefined()
    },
  )

  test('a right that a person granted by name stays, except for the database’s own user', () => {
    const rules = 'on ~* &* -@all +get +migrate +script|debug'
    expect(wordsFor(`user mover ${rules}`)).toBeUndefined()
    expect(wordsFor(`user default ${rules}`)).toBe('-migrate -script|debug')
  })

  test('a selector is written again, with all others', () => {
    expect(wordsFor('user app on ~a -@all +get (~b &* +@all) (~c +get)')).toBe(
      `clearselectors (~b resetchannels &* +@all ${everything}) (~c resetchannels +get)`,
    )
  })

  test('before redis 7 SCRIPT is forbidden, and its other subcommands are allowed again', () => {
    const words = wordsFor('user app on ~* +@all -@admin', redis60) ?? ''
    expect(words).toMatch(/^-migrate -restore-asking -script \+script\|load /)
    expect(words).not.toContain('debug')
    expect(wordsFor(`user app on ~* +@all -@admin ${words}`, redis60)).toBeUndefined()
  })

  test('a user with @connection does not administer connections, unless a person granted that by name', () => {
    const names = ['pause', 'unpause', 'kill', 'unblock', 'no-evict'].map((name) => `client|${name}`)
    const administrative = names.map((name) => ({ name, categories: ['admin', 'connection'] }))
    const others = ['get', 'client', 'client|id'].map((name) => ({ name, categories: ['connection'] }))
    const config = { name: 'config|set', categories: ['admin'] }
    const commands = commandTable([...administrative, ...others, config])
    const wordsNow = (rules: string) => wordsFor(`user app on ~* &* ${rules}`, { ...redis70, commands })
    const all = '-client|pause -client|unpause -client|kill -client|unblock -client|no-evict'
    expect(wordsNow('-@all +@connection')).toBe(all)
    expect(wordsNow(`-@all +@connection ${all}`)).toBeUndefined()
    expect(wordsNow('-@all +@connection +client|kill')).toBe(all.replace(' -client|kill', ''))
    for (const rules of ['-@all +client', '-@all +@connection +config|set', '+@all -@admin'])
      expect(wordsNow(rules), rules).toBeUndefined()
  })

  test('before redis 7 a user that has CLIENT by a category loses it, and gets back what clients need of it', () => {
    const commands = commandTable([{ name: 'client', categories: ['admin', 'connection'] }])
    const dialect = { ...redis60, commands }
    const words = wordsFor('user app on ~* -@all +@connection', dialect) ?? ''
    expect(words).toMatch(/^-client \+client\|setname /)
    expect(words).not.toContain('pause')
    expect(wordsFor(`user app on ~* -@all +@connection ${words}`, dialect)).toBeUndefined()
  })

  test('a module does not connect to where its client says', () => {
    expect(wordsFor('user default on ~* &* +@all -@admin', withSearch)).toBe(
      `${everything} -search.clusterset`,
    )
  })

  test('the administrator is left alone, and so is a user whose rules cannot be parsed', () => {
    const lines = ['user fairlead on ~* &* +@all', 'user x on ip=1 +@all']
    expect(atOnce(usersToLimit(lines, redis70))).toEqual([])
  })
})

test('users count as given only with the very rules of their build, and no others beside them', () => {
  const { build } = redis70
  const admin = 'user fairlead on #00 ~* &* +@all'
  const given = `+@all -@admin ${everything}`
  const own = `user default on sanitize-payload #00 ~* &* ${given}`
  expect(areAsGiven([admin, own], build, false)).toBe(true)
  const others = [
    [admin, `user default on #00 ~* &* +@all -@admin`],
    [admin, `${own} +config`],
    [admin, `${own} (~* +@all)`],
    [admin, own.replace('default', 'app')],
    [admin, own, 'user app on #00 ~* &* -@all'],
    [admin, 'user default on #00 ~* &* +@strange[sign'],
  ]
  expect(others.filter((lines) => areAsGiven(lines, build, false))).toEqual([])
  // Before redis 7 the rules are others, and in cluster mode they are others again.
  expect(areAsGiven([admin, own], redis60.build, false)).toBe(false)
})
