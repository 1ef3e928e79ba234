import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { exitCodes, printExitCodes } from './output/exit-codes.ts'
import { endQuietly } from './output/terminal.ts'
import { asJson, withoutOrders } from './output/without-orders.ts'
import type { Settings } from './tree/client-command.ts'
import { examples } from './tree/examples.ts'
import { type Tree, treesFor } from './tree/trees.ts'

/** The commands of a package. */
export interface Edition<S extends Settings = Settings> {
  readonly trees: readonly Tree<S>[]
  readonly settings: S
}

/**
 * Runs a command line, and returns the exit code. Failures go to stderr without a stack trace.
 *
 * Loads a command's program only to run it: server, agent and proxy, which take a second, are not loaded for
 * help and completion.
 */
export async function runProgram<S extends Settings>(
  args: readonly string[],
  edition: Edition<S>,
): Promise<number> {
  endQuietly()
  try {
    if (args[0] === 'help' && args[1] === 'exit-codes') {
      process.stdout.write(printExitCodes())
      return exitCodes.done.code
    }
    const program = await createProgram(edition, args[0])
    if (asksJson(args)) sayInJson(program)
    // The words to complete are not those of this command line.
    if (args[0] === '__complete') return await writeCompletions(program, args.slice(1), edition.settings.env)
    await program.parseAsync([...args], { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (cause) {
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : exitCodes.usage.code // already printed
    return await sayWhy(cause, asksJson(args))
  }
}

/** Returns whether a program reads the output. Searches the words, because refused ones are unparsed. */
function asksJson(args: readonly string[]): boolean {
  return args.some(
    (word, n) =>
      /^(--json|(-o|--output=)jsonl?)$/.test(word) ||
      (/^(-o|--output)$/.test(word) && /^jsonl?$/.test(args[n + 1] ?? '')),
  )
}

/** Prints faults of the command line as JSON, like all errors for programs. */
function sayInJson(program: Command): void {
  const outputError = (text: string, write: (text: string) => void) => {
    const message = text.trim().replace(/^error: /, '')
    write(`${asJson({ error_code: 'usage', message, exit_code: exitCodes.usage.code })}\n`)
  }
  for (const command of everyCommand(program))
    command.showHelpAfterError(false).configureOutput({ outputError })
}

/** Adds examples to the help of each command. */
function addExamples(program: Command): void {
  for (const command of everyCommand(program)) {
    const shown = examples[wordsOf(command)] ?? []
    if (shown.length > 0)
      command.addHelpText('after', `\nExamples:\n${shown.map((line) => `  fairlead ${line}\n`).join('')}`)
  }
}

/** "databases create". */
function wordsOf(command: Command): string {
  const { parent } = command
  return parent?.parent == null ? command.name() : `${wordsOf(parent)} ${command.name()}`
}

function everyCommand(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(everyCommand)]
}

/** For completion scripts. Hides faults, since a person is typing. Loads the client only to look up names. */
async function writeCompletions(
  program: Command,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const { complete } = await import('./commands/completion/complete.ts')
  const text = await complete(program, words, async (...asked) =>
    (await import('./commands/completion/names-of-server.ts')).namesOfServer(env)(...asked),
  )
  process.stdout.write(text)
  return exitCodes.done.code
}

/** For a command of this machine. Its message may come from the server. */
async function sayWhy(cause: unknown, isJson: boolean): Promise<number> {
  const { name = '' } = cause as Partial<Error>
  if (name === 'ConfigError') {
    process.stderr.write(withoutOrders(`fairlead: ${(cause as Error).message}\n`))
    return exitCodes.usage.code
  }
  const { printError } = await import('./output/print-error.ts')
  return printError(cause, { asJson: isJson, isTerminal: process.stderr.isTTY === true })
}

/** Builds the tree of commands, or the parts for this first word. Loads no implementations. */
export async function createProgram<S extends Settings>(
  { trees, settings }: Edition<S>,
  word?: string,
): Promise<Command> {
  const program = new Command('fairlead')
    .description('Control plane for Valkey- and Redis-compatible databases')
    .version(ownVersion())
    // After a command, --version belongs to it: modules have versions, too.
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError('  fairlead --help lists the commands')
    .addHelpText('after', '\nExit codes: fairlead help exit-codes')
  // In parallel: otherwise help waits a dozen times for the disk.
  program.configureOutput({
    outputError: (text, write) => write(withoutOrders(text.replace(/^error: /, 'fairlead: '))),
  })
  const adds = await Promise.all(treesFor(trees, word).map(({ load }) => load()))
  for (const add of adds) add(program, settings)
  addExamples(program)
  return program
}

function ownVersion(): string {
  const file = new URL('../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version
}
