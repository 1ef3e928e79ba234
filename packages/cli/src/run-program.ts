import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { endQuietly } from './output/end-quietly.ts'
import { exitCodes, printExitCodes } from './output/exit-codes.ts'
import { asJson, withoutOrders } from './output/without-orders.ts'
import type { Settings } from './tree/settings.ts'
import { type Tree, treesFor } from './tree/trees.ts'

/** Which commands there are. */
export interface Edition<S extends Settings = Settings> {
  readonly trees: readonly Tree<S>[]
  readonly settings: S
}

/**
 * Runs one command line and returns the exit code, see the table of exit codes. A failure is told on stderr, without a stack trace.
 *
 * The program of a command is loaded when the command is run: help and completion load nothing of server, agent and proxy, which take a second.
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
    // The words of a command line that is being typed are not those of this one.
    if (args[0] === '__complete') return await writeCompletions(program, args.slice(1), edition.settings.env)
    await program.parseAsync([...args], { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (cause) {
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : exitCodes.usage.code // it has said what is wrong
    return await sayWhy(cause, asksJson(args))
  }
}

/** Whether a program reads what is said. Words that Commander has refused are not parsed: they are looked at as they are. */
function asksJson(args: readonly string[]): boolean {
  return args.some(
    (word, n) =>
      /^(--json|(-o|--output=)jsonl?)$/.test(word) ||
      (/^(-o|--output)$/.test(word) && /^jsonl?$/.test(args[n + 1] ?? '')),
  )
}

/** What is wrong with the command line, in the form of all errors that programs read. */
function sayInJson(program: Command): void {
  const outputError = (text: string, write: (text: string) => void) => {
    const message = text.trim().replace(/^error: /, '')
    write(`${asJson({ error_code: 'usage', message, exit_code: exitCodes.usage.code })}\n`)
  }
  for (const command of everyCommand(program))
    command.showHelpAfterError(false).configureOutput({ outputError })
}

function everyCommand(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(everyCommand)]
}

/** For the scripts of `completion`. Silent about every fault: a person is typing. What asks a server is loaded when a name is looked for. */
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

/** Of a command of this machine. Its words may be the server's. */
async function sayWhy(cause: unknown, isJson: boolean): Promise<number> {
  const { name = '' } = cause as Partial<Error>
  if (name === 'ConfigError') {
    process.stderr.write(withoutOrders(`fairlead: ${(cause as Error).message}\n`))
    return exitCodes.usage.code
  }
  const { sayFault } = await import('./output/say-fault.ts')
  return sayFault(cause, { asJson: isJson, isTerminal: process.stderr.isTTY === true })
}

/** The tree of commands, or the parts of it that a command line with this first word needs. Nothing of what they do is loaded. */
export async function createProgram<S extends Settings>(
  { trees, settings }: Edition<S>,
  word?: string,
): Promise<Command> {
  const program = new Command('fairlead')
    .description('Control plane for Valkey- and Redis-compatible databases')
    .version(ownVersion())
    // After a command, --version is the command's: modules have versions, too.
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError('(fairlead --help lists the commands)')
    .addHelpText('after', '\nExit codes: fairlead help exit-codes')
  // All at once: one after the other, help waits a dozen times for the disk.
  const adds = await Promise.all(treesFor(trees, word).map(({ load }) => load()))
  for (const add of adds) add(program, settings)
  return program
}

function ownVersion(): string {
  const file = new URL('../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version
}
