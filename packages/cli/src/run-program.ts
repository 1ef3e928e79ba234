import { type Config, ConfigError, loadConfig, softwareVersion } from '@fairlead/server'
import { Command, CommanderError } from 'commander'
import { runAgent } from './commands/agent.ts'
import { runDown } from './commands/down.ts'
import { addEnginesCommands } from './commands/engines.ts'
import { addModulesCommands } from './commands/modules.ts'
import { addOperatorCommands } from './commands/operator.ts'
import { runServer } from './commands/server.ts'
import { runUp } from './commands/up.ts'
import { giveUpRoot } from './home/give-up-root.ts'
import { withoutOrders } from './parts/start-part.ts'

/**
 * Runs one command line and returns the exit code: 0, 1 when the command failed, 2 when it or the configuration is
 * wrong. A failure is one line on stderr, never a stack trace.
 */
export async function runProgram(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  try {
    await createProgram(() => loadConfig(env), env).parseAsync([...args], { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (cause) {
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : 2 // it has said what is wrong
    // It may be the server's word.
    const words = cause instanceof Error ? cause.message : String(cause)
    process.stderr.write(withoutOrders(`fairlead: ${words}\n`))
    return cause instanceof ConfigError ? 2 : 1
  }
}

function createProgram(config: () => Config, env: NodeJS.ProcessEnv): Command {
  /** For commands that speak to clients or engines, or start them. */
  const asOwner = (): Config => {
    const read = config()
    giveUpRoot(read.home)
    return read
  }
  const program = new Command('fairlead')
    .description('Control plane for Valkey- and Redis-compatible databases')
    .version(softwareVersion)
    // After a command, --version is the command's: modules have versions, too.
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError('(fairlead --help lists the commands)')
  program
    .command('up')
    .description('run server and agent in the foreground; Ctrl-C stops them and leaves databases running')
    .action(() => runUp(asOwner(), env))
  program
    .command('down')
    .description('stop what `fairlead up` runs')
    .option(
      '--all',
      'stop the database processes and the proxy too; they keep their data and come back at the next start',
    )
    .action((options: { readonly all?: boolean }) => runDown(asOwner(), options.all === true))
  program
    .command('server')
    .description('run the server alone')
    .action(() => runServer(asOwner(), env))
  program
    .command('agent')
    .description('run the agent of this machine alone')
    .action(() => runAgent(asOwner(), env['PATH'] ?? ''))
  addEnginesCommands(program, () => ({ path: env['PATH'] ?? '', folder: config().engines }))
  addModulesCommands(program, () => config().home)
  addOperatorCommands(program, config, env)
  return program
}
