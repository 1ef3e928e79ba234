import type { Command, Option } from 'commander'
import { withoutOrders } from '../../output/without-orders.ts'

/** A possible next word, and its meaning. */
export interface Candidate {
  readonly word: string
  readonly about: string
}

/** Finds names for a kind of value in the tree: "database", "action", "user", … */
export type Names = (kind: string, options: ReadonlyMap<string, string>) => Promise<readonly string[]>

/**
 * Prints completions of a command line, one per line, with a tab and their meaning: commands and options from
 * the tree without network, values of the server from `names`. `words` follow `fairlead`; the last is
 * incomplete and starts with a colon, because some shells omit empty words.
 */
export async function complete(program: Command, words: readonly string[], names: Names): Promise<string> {
  const typed = (words.at(-1) ?? ':').slice(1)
  const found = await candidatesOf(program, joined(words.slice(0, -1)), typed, names)
  return found
    .filter(({ word }) => word.startsWith(typed))
    .map(({ word, about }) => withoutOrders(`${word}\t${about.replaceAll(/\s+/g, ' ')}\n`))
    .join('')
}

/** bash splits `--output=json` into three words. */
function joined(words: readonly string[]): readonly string[] {
  return words.filter((word) => word !== '=')
}

async function candidatesOf(
  program: Command,
  before: readonly string[],
  typed: string,
  names: Names,
): Promise<readonly Candidate[]> {
  const { command, given, open, options } = walk(program, before)
  if (open !== undefined) return await valuesOf(kindOf(open.flags), open.argChoices, names, options)
  const [, flag = ''] = /^(--[\w-]+)=/.exec(typed) ?? []
  const option = flag === '' ? undefined : findOption(command, flag)
  if (option !== undefined) {
    const values = await valuesOf(kindOf(option.flags), option.argChoices, names, options)
    return values.map((one) => ({ ...one, word: `${flag}=${one.word}` }))
  }
  if (typed.startsWith('-')) return optionsOf(command)
  if (command.commands.length > 0 && given === 0) return commandsOf(command)
  const { registeredArguments: known } = command
  const argument = known[given] ?? (known.at(-1)?.variadic === true ? known.at(-1) : undefined)
  return argument === undefined ? [] : await valuesOf(argument.name(), argument.argChoices, names, options)
}

interface Walked {
  readonly command: Command
  /** Number of arguments so far. */
  readonly given: number
  /** The option that the next value belongs to. */
  readonly open: Option | undefined
  readonly options: ReadonlyMap<string, string>
}

function walk(program: Command, words: readonly string[]): Walked {
  const options = new Map<string, string>()
  let [command, given, open]: [Command, number, Option | undefined] = [program, 0, undefined]
  for (const word of words) {
    if (open !== undefined) {
      options.set(open.long ?? '', word)
      open = undefined
    } else if (word.startsWith('-')) {
      const [flag = '', value] = word.split('=', 2)
      const option = findOption(command, flag)
      if (option?.long !== undefined && value !== undefined) options.set(option.long, value)
      if (option?.required === true && value === undefined) open = option
    } else {
      const below = given === 0 ? findCommand(command, word) : undefined
      if (below === undefined) given += 1
      else command = below
    }
  }
  return { command, given, open, options }
}

function findCommand({ commands }: Command, word: string): Command | undefined {
  return commands.find((one) => one.name() === word || one.aliases().includes(word))
}

function findOption({ options }: Command, flag: string): Option | undefined {
  return options.find(({ long, short }) => flag === long || flag === short)
}

function commandsOf(command: Command): readonly Candidate[] {
  return command.commands.map((one) => ({ word: one.name(), about: one.description() }))
}

function optionsOf({ options }: Command): readonly Candidate[] {
  return [
    ...options
      .filter(({ hidden, long }) => !hidden && long !== undefined)
      .map(({ long, description }) => ({ word: long ?? '', about: description })),
    { word: '--help', about: 'show what it takes' },
  ]
}

/** "--database <database>" takes a database. */
function kindOf(flags: string): string {
  return /[<[]([\w-]+)/.exec(flags)?.[1] ?? ''
}

async function valuesOf(
  kind: string,
  choices: readonly string[] | undefined,
  names: Names,
  options: ReadonlyMap<string, string>,
): Promise<readonly Candidate[]> {
  const words = choices ?? (await names(kind, options))
  return words.map((word) => ({ word, about: '' }))
}
