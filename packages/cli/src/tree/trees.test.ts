import { Command } from 'commander'
import { expect, test } from 'vitest'
import { trees } from './machine-trees.ts'
import { treesFor } from './trees.ts'

test('each part of the tree has the words that it says, so a command line finds it by its first word', async () => {
  const settings = { env: {}, checkHere: null, config: () => Promise.reject(new Error('no command is run')) }
  for (const { words, add } of trees) {
    const program = new Command('fairlead')
    await add(program, settings)
    const names = program.commands.flatMap((command) => [command.name(), ...command.aliases()])
    expect(names.toSorted()).toEqual([...words].toSorted())
  }
  expect(treesFor(trees, 'users').length).toBe(2)
  expect(treesFor(trees, '--version')).toEqual([])
  for (const word of [undefined, '--help', 'help', 'databse']) expect(treesFor(trees, word)).toEqual(trees)
})
