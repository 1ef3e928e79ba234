import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { exitCodes, printExitCodes } from './output/exit-codes.ts'
import { withoutOrders } from './output/without-orders.ts'

import { addActionsCommands } from './tree/add-actions-commands.ts'
import { addClusterCommands } from './tree/add-cluster-commands.ts'
import { addCompletionCommands } from './tree/add-completion-commands.ts'
import { addConfigCommands } from './tree/add-config-commands.ts'
import { addDatabasesCommands } from './tree/add-databases-commands.ts'

import { addEnginesCommands } from './tree/add-engines-commands.ts'
import { addLoginCommands } from './tree/add-login-commands.ts'
import { addModulesCommands } from './tree/add-modules-commands.ts'
import { addOperatorCommands } from './tree/add-operator-commands.ts'
import { addPartCommands } from './tree/add-part-commands.ts'
import { addPeopleCommands } from './tree/add-people-commands.ts'
import { addWatchCommands } from './tree/add-watch-commands.ts'
import type { Settings } from './tree/settings.ts'

/**
 * Runs one command line and returns the exit code, see the table of exit codes. A failure is told on stderr, without a stack trace.
 *
 * The program of a command is loaded when the command is run: help and completion load nothing of server, agent and proxy, which take a second.
 */
export async function runProgram(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  try {
    if (args[0] === 'help' && args[1] === 'exit-codes') {
      process.stdout.write(printExitCodes())
      return exitCodes.done.code
    }
    const program = createProgram({ config: () => readConfig(env), env })
    // The words of a command line that is being typed are not those of this one.
    if (args[0] === '__complete') return await writeCompletions(program, args.slice(1), env)
    await program.parseAsync([...args], { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (cause) {
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : exitCodes.usage.code // it has said what is wrong
    return await sayWhy(cause)
  }
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

/** Variables of the client, which server and agent do not know. */
const ofClient: readonly string[] = [
  ...['FAIRLEAD_SERVER', 'FAIRLEAD_PROFILE', 'FAIRLEAD_TOKEN', 'FAIRLEAD_CA_FILE', 'FAIRLEAD_OUTPUT'],
  ...['FAIRLEAD_CONFIG', 'FAIRLEAD_ASCII', 'FAIRLEAD_PROGRESS', 'FAIRLEAD_DEBUG'],
]

async function readConfig(env: NodeJS.ProcessEnv) {
  const { loadConfig } = await import('@fairlead/server')
  return loadConfig(Object.fromEntries(Object.entries(env).filter(([name]) => !ofClient.includes(name))))
}

/** Of a command of this machine. Its words may be the server's. */
async function sayWhy(cause: unknown): Promise<number> {
  const { name = '' } = cause as Partial<Error>
  if (name === 'ConfigError') {
    process.stderr.write(withoutOrders(`fairlead: ${(cause as Error).message}\n`))
    return exitCodes.usage.code
  }
  const { sayFault } = await import('./output/say-fault.ts')
  return sayFault(cause, { asJson: false, isTerminal: process.stderr.isTTY === true })
}

/** The whole tree of commands. Nothing of what they do is loaded. */
export function createProgram(settings: Settings): Command {
  const program = new Command('fairlead')
    .description('Control plane for Valkey- and Redis-compatible databases')
    .version(ownVersion())
    // After a command, --version is the command's: modules have versions, too.
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError('(fairlead --help lists the commands)')
    .addHelpText('after', '\nExit codes: fairlead help exit-codes')
  addLoginCommands(program, settings)
  addDatabasesCommands(program, settings)
  addActionsCommands(program, settings)
  addClusterCommands(program, settings)
  addPartCommands(program, settings)
  addEnginesCommands(program, settings)
  addModulesCommands(program, settings)
  addOperatorCommands(program, settings)
  addPeopleCommands(program, settings)
  addWatchCommands(program, settings)
  addConfigCommands(program, settings)
  addCompletionCommands(program)
  return program
}

function ownVersion(): string {
  const file = new URL('../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version
}
