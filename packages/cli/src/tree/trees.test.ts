import { safeDefaults } from '@fairlead/api'
import { Command } from 'commander'
import { expect, test } from 'vitest'
import { elsewhere } from '../run-client-alone.ts'
import { trees } from './machine-trees.ts'
import { clientTrees, treesFor } from './trees.ts'

test('each part of the tree has the words that it says, so a command line finds it by its first word', async () => {
  const settings = { env: {}, checkHere: null, config: () => Promise.reject(new Error('no command is run')) }
  for (const { words, load } of trees) {
    const program = new Command('fairlead')
    const add = await load()
    add(program, settings)
    const names = program.commands.flatMap((command) => [command.name(), ...command.aliases()])
    expect(names.toSorted()).toEqual([...words].toSorted())
  }
  expect(treesFor(trees, 'users').length).toBe(2)
  expect(treesFor(trees, '--version')).toEqual([])
  for (const word of [undefined, '--help', 'help', 'databse']) expect(treesFor(trees, word)).toEqual(trees)
})

test('the help of creation and upgrade names the safe defaults of the API', async () => {
  const program = new Command('fairlead')
  const settings = { env: {}, checkHere: null, config: () => Promise.reject(new Error('no command is run')) }
  for (const { load } of treesFor(trees, 'databases')) (await load())(program, settings)
  const databases = program.commands.find((command) => command.name() === 'databases')
  const helpOf = (name: string, option: string) =>
    databases?.commands
      .find((command) => command.name() === name)
      ?.options.find(({ long }) => long === option)?.description
  expect(helpOf('create', '--persistence')).toContain(`by default: ${safeDefaults.data_persistence}`)
  expect(helpOf('create', '--aof-policy')).toContain(`by default: ${safeDefaults.aof_policy}`)
  expect(helpOf('create', safeDefaults.replication ? '--replication' : '')).toContain('default')
  expect(helpOf('upgrade', '--rollback-window')).toContain('default: until-finalized')
})

test('the client alone has each word of the whole command line, or says where it is', () => {
  const wordsOf = (some: readonly { readonly words: readonly string[] }[]) =>
    new Set(some.flatMap(({ words }) => words))
  expect(wordsOf([...clientTrees, elsewhere])).toEqual(wordsOf(trees))
})
