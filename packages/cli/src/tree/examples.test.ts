import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createProgram } from '../run-program.ts'
import { examples } from './examples.ts'
import { trees } from './machine-trees.ts'

const settings = { env: {}, checkHere: null, config: () => Promise.reject(new Error('no command is run')) }

/** Each command without commands of its own, by its words. */
function leavesOf(command: Command, words: readonly string[] = []): readonly (readonly [string, Command])[] {
  if (command.commands.length === 0) return [[words.join(' '), command]]
  return command.commands.flatMap((one) => leavesOf(one, [...words, one.name()]))
}

test('the help of each command has examples, which it can read', async () => {
  const leaves = new Map(leavesOf(await createProgram({ trees, settings })))
  expect(Object.keys(examples).toSorted()).toEqual([...leaves.keys()].toSorted())
  const faults = [...leaves].flatMap(([words, command]) =>
    (examples[words] ?? []).flatMap((line) => {
      const [own = ''] = line.split(/ (?:>|&&) /)
      const given = (own.match(/"[^"]*"|\S+/g) ?? []).slice(words.split(' ').length)
      const { operands, unknown } = command.parseOptions(given)
      const needed = command.registeredArguments.filter(({ required }) => required).length
      const most = command.registeredArguments.some(({ variadic }) => variadic)
        ? 9
        : command.registeredArguments.length
      const isRight =
        line.startsWith(words) && unknown.length === 0 && operands.length >= needed && operands.length <= most
      return isRight ? [] : [`${line}: ${JSON.stringify({ operands, unknown })}`]
    }),
  )
  expect(faults).toEqual([])
  const help: string[] = []
  leaves
    .get('databases create')
    ?.configureOutput({ writeOut: (text) => void help.push(text) })
    .outputHelp()
  expect(help.join('')).toContain('  fairlead databases create orders --memory 1GiB\n')
})
