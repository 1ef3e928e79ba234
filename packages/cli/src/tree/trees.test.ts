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

test('the client alone has each word of the whole command line, or says where it is', () => {
  const wordsOf = (some: readonly { readonly words: readonly string[] }[]) =>
    new Set(some.flatMap(({ words }) => words))
  expect(wordsOf([...clientTrees, elsewhere])).toEqual(wordsOf(trees))
})
