import type { Command, Option } from 'commander'
import { createProgram } from '../packages/cli/src/run-program.ts'
import { trees } from '../packages/cli/src/tree/machine-trees.ts'

/** A command as its pages show it: `fairlead ${words}`, what it does, and its own options. */
export interface PrintedCommand {
  readonly words: string
  readonly description: string
  readonly own: readonly Option[]
  /** Whether it takes the options that all commands have which speak to a server. */
  readonly speaks: boolean
}

/**
 * Every command of the tree that does something, and the options that those have in common which speak to a
 * server.
 */
export async function readCommandTree(): Promise<{
  readonly commands: readonly PrintedCommand[]
  readonly common: readonly Option[]
}> {
  const settings = {
    env: {},
    checkHere: null,
    config: () => Promise.reject(new Error('help needs no settings')),
  }
  const program = await createProgram({ trees, settings })
  const leaves = leavesOf(program)
  const common = optionsOf(leaves.find((command) => command.name() === 'whoami'))
  const known = new Set(common.map(({ flags }) => flags))
  const commands = leaves.map((command) => ({
    words: [pathOf(command), ...argumentsOf(command)].join(' '),
    description: sentence(command.description()),
    own: optionsOf(command).filter(({ flags }) => !known.has(flags)),
    speaks: optionsOf(command).some(({ flags }) => flags.includes('--server')),
  }))
  return { commands, common }
}

/** What an option does, with its choices. */
export function describeOption({ description, argChoices }: Option): string {
  return argChoices === undefined ? description : `${description} (${argChoices.join(', ')})`
}

function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf)
}

function optionsOf(command: Command | undefined): readonly Option[] {
  return (command?.options ?? []).filter(({ hidden }) => !hidden)
}

function argumentsOf({ registeredArguments }: Command): readonly string[] {
  return registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '…' : ''}`
    return argument.required ? `<${name}>` : `[${name}]`
  })
}

function pathOf(command: Command): string {
  const { parent } = command
  return parent === null || parent.parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}
