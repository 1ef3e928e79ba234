import { describe, expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { ancient, newer, older } from '../../../test/commands.ts'
import { commandRights, commandTable, translateCommands } from './command-rights.ts'

describe('command words are read from left to right', () => {
  const rights: readonly (readonly [string, readonly string[]])[] = [
    ['-@all +get', ['get']],
    [
      '+@all -@admin -@dangerous',
      ['client', 'client|id', 'get', 'keys', 'script', 'script|debug', 'script|load', 'select', 'set'],
    ],
    ['+@read -get', ['keys']],
    ['+config', ['config', 'config|get', 'config|set']],
    ['+config -config|set', ['config', 'config|get']],
    ['+config|get -config', []],
    ['+CONFIG|GET', ['config|get']],
    ['+hexpire +@json', []],
  ]
  test.for(rights)('%s', ([words, allowed]) => {
    expect([...commandRights(words.split(' '), older).allowed].toSorted()).toEqual(allowed)
  })

  test('a first argument counts until a later word names the command itself', () => {
    const open = (words: string) => [...commandRights(words.split(' '), older).firstArguments]
    expect(open('-@all +select|0 +select|1')).toEqual(['select|0', 'select|1'])
    expect(open('+select|0 -select')).toEqual([])
    expect(open('+select|0 +@all')).toEqual([])
    expect(open('+select|0 -@connection')).toEqual([])
  })

  test('the last word about all commands decides for commands that do not exist yet', () => {
    expect(commandRights(['+@all', '-get'], older).others).toBe(true)
    expect(commandRights(['+get'], older).others).toBe(false)
  })
})

describe('translated to another build', () => {
  const words = (text: string) => text.split(' ')

  test('a word that forbids a command which the build does not have is dropped', () => {
    expect(translateCommands(words('+@all -hexpire -@hash'), newer, older)).toEqual({
      words: ['+@all'],
      lost: [],
      unsayable: [],
    })
  })

  test('a command that was granted by name and does not exist there is reported', () => {
    expect(translateCommands(words('-@all +get +hexpire'), newer, older)).toMatchObject({
      words: ['-@all', '+get'],
      lost: ['hexpire'],
    })
    expect(translateCommands(words('+hexpire -@hash'), newer, older).lost).toEqual([])
  })

  test('where a category holds other commands, the difference is corrected by name', () => {
    // `keys` is dangerous only in the newer one.
    expect(translateCommands(words('+@all -@dangerous'), older, newer).words).toEqual([
      ...['+@all', '-@dangerous', '+keys'],
    ])
    expect(translateCommands(words('-@all +@dangerous'), older, newer).words).toContain('-keys')
  })

  test('for new commands the categories decide', () => {
    const allowed = (text: string) =>
      commandRights(translateCommands(words(text), older, newer).words, newer).allowed
    expect(allowed('+@all -@admin').has('hexpire')).toBe(true)
    expect(allowed('-@all +@write').has('hexpire')).toBe(true)
    expect(allowed('-@all +@read').has('hexpire')).toBe(false)
  })

  test('if nothing of a command was allowed, its new subcommands are not allowed either', () => {
    const { words: there } = translateCommands(words('+@all -client|id -client|kill'), older, newer)
    expect(there).toContain('-client')
    expect(commandRights(there, newer).allowed.has('client|capa')).toBe(false)
  })

  test('a subcommand of an old build, where it was a first argument, stays allowed', () => {
    const { words: there } = translateCommands(words('+@all -@admin +client|id'), ancient, newer)
    const { allowed } = commandRights(there, newer)
    expect([allowed.has('client|id'), allowed.has('client|kill')]).toEqual([true, false])
  })

  test('a command that is allowed in part has first arguments on a build without subcommands', () => {
    for (const rule of ['+@all -client|kill', '-@all +client|id']) {
      const { words: said, unsayable } = translateCommands(words(rule), older, ancient)
      expect(unsayable).toEqual([])
      const { allowed, firstArguments } = commandRights(said, ancient)
      expect([allowed.has('client'), [...firstArguments]]).toEqual([false, ['client|id']])
    }
    const whole = translateCommands(words('-@all +client|id +client|kill'), older, ancient)
    expect(commandRights(whole.words, ancient).allowed).toEqual(new Set(['client']))
  })
})

const word = fc
  .tuple(
    fc.constantFrom('+', '-'),
    fc.constantFrom(
      ...['@all', '@read', '@write', '@admin', '@dangerous', '@connection', '@hash', '@none'],
      ...['get', 'set', 'keys', 'client', 'client|id', 'client|kill', 'client|capa', 'config|set', 'hexpire'],
    ),
  )
  .map(([sign, subject]) => `${sign}${subject}`)
const argument = fc.constantFrom('+select|0', '+select|1')
const someWords = fc.array(fc.oneof({ weight: 5, arbitrary: word }, argument), { maxLength: 8 })
const tables = fc.constantFrom(older, newer)

test('whatever the rules, no command that both builds have is allowed on one and forbidden on the other', () => {
  fc.assert(
    fc.property(someWords, tables, tables, (words, from, to) => {
      const there = commandRights(translateCommands(words, from, to).words, to)
      const here = commandRights(words, from)
      const shared = [...from.commands].filter(
        (name) => to.commands.has(name) && !from.subcommands.has(name) && !to.subcommands.has(name),
      )
      const allowed = ({ allowed: all }: typeof here) => shared.filter((name) => all.has(name))
      expect(allowed(there)).toEqual(allowed(here))
      expect(there.firstArguments).toEqual(here.firstArguments)
      expect(there.others).toBe(here.others)
    }),
  )
})

test('on the same build a translation means the same, new commands and all', () => {
  fc.assert(
    fc.property(someWords, tables, (words, table) => {
      const { words: same, lost } = translateCommands(words, table, table)
      expect(commandRights(same, table)).toEqual(commandRights(words, table))
      expect(lost).toEqual([])
    }),
  )
})

test('the table has the commands that COMMAND lists', () => {
  const table = commandTable([
    { name: 'client', categories: ['slow'] },
    { name: 'client|id', categories: ['slow', 'connection'] },
  ])
  expect(table.subcommands.get('client')).toEqual(['client|id'])
  expect(table.categories.get('connection')).toEqual(new Set(['client|id']))
})
