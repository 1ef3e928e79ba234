import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { withoutOrders } from './parts/without-orders.ts'
import { addEnginesCommands } from './tree/add-engines-commands.ts'
import { addModulesCommands } from './tree/add-modules-commands.ts'
import { addOperatorCommands } from './tree/add-operator-commands.ts'
import { addPartCommands } from './tree/add-part-commands.ts'
import type { Settings } from './tree/settings.ts'

/**
 * Runs one command line and returns the exit code: 0, 1 when the command failed, 2 when it or the configuration is
 * wrong. A failure is one line on stderr, never a stack trace.
 *
 * The program of a command is loaded when the command is run: help and completion load nothing of server, agent and proxy, which take a second.
 */
export async function runProgram(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  try {
    await createProgram({ config: () => readConfig(env), env }).parseAsync([...args], { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (cause) {
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : 2 // it has said what is wrong
    // It may be the server's word.
    const words = cause instanceof Error ? cause.message : String(cause)
    process.stderr.write(withoutOrders(`fairlead: ${words}\n`))
    const { ConfigError } = await import('@fairlead/server')
    return cause instanceof ConfigError ? 2 : 1
  }
}

async function readConfig(env: NodeJS.ProcessEnv) {
  const { loadConfig } = await import('@fairlead/server')
  return loadConfig(env)
}

function createProgram(settings: Settings): Command {
  const program = new Command('fairlead')
    .description('Control plane for Valkey- and Redis-compatible databases')
    .version(ownVersion())
    // After a command, --version is the command's: modules have versions, too.
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError('(fairlead --help lists the commands)')
  addPartCommands(program, settings)
  addEnginesCommands(program, settings)
  addModulesCommands(program, settings)
  addOperatorCommands(program, settings)
  return program
}

function ownVersion(): string {
  const file = new URL('../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version
}
