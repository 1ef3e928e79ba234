import type { Config } from '@fairlead/server'
import { Argument, type Command } from 'commander'
import type { DownOptions } from '../commands/down.ts'
import type { LogPart, LogsOptions } from '../commands/logs.ts'
import { readWhole } from '../output/read-quantity.ts'
import { endQuietly, openTerminal } from '../output/terminal.ts'
import type { MachineSettings } from './client-command.ts'

/**
 * Adds `up` and `down`, and `server` and `agent`, which `up` runs. They speak to clients or engines, so as
 * root they become the owner of FAIRLEAD_HOME.
 */
export function addPartCommands(program: Command, settings: MachineSettings): void {
  const { env } = settings
  program
    .command('up')
    .description('run server and agent in the foreground; Ctrl-C stops them and leaves databases running')
    .action(async () => (await import('../commands/up.ts')).runUp(await asOwner(settings), env))
  program
    .command('down')
    .description('stop what `fairlead up` runs')
    .option(
      '--all',
      'stop the database processes and the proxy too; they keep their data and come back at the next start',
    )
    .option('--yes', 'with --all, while databases serve: do not ask')
    .action(async (options: DownOptions) => {
      const terminal = openTerminal(env, {}, endQuietly())
      await (await import('../commands/down.ts')).runDown(await asOwner(settings), terminal, options)
    })
  program
    .command('server')
    .description('run the server alone')
    .action(async () => (await import('../commands/server.ts')).runServer(await asOwner(settings), env))
  program
    .command('agent')
    .description('run the agent of this machine alone')
    .action(async () => (await import('../commands/agent.ts')).runAgent(await asOwner(settings), env))
}

async function asOwner({ config }: MachineSettings): Promise<Config> {
  const read = await config()
  const { giveUpRoot } = await import('../home/give-up-root.ts')
  giveUpRoot(read.home)
  return read
}

/** Adds `logs`, which reads the files of FAIRLEAD_HOME. */
export function addLogsCommand(program: Command, settings: MachineSettings): void {
  program
    .command('logs')
    .description('print the last lines of the log of a part on this machine')
    .addArgument(
      new Argument('[part]', 'which').choices(['server', 'agent', 'proxy', 'engine']).default('server'),
    )
    .argument('[database]', 'with engine: a database; or a shard like s3, also while no server runs')
    .option('-f, --follow', 'keep printing new lines, until Ctrl-C')
    .option('-n, --lines <n>', 'number of lines of each file', (text) => readWhole('--lines', text), 20)
    .action(async (part: LogPart, database: string | undefined, options: LogsOptions) => {
      const { showLogs } = await import('../commands/logs.ts')
      await showLogs(await asOwner(settings), settings.env, [part, database], options)
    })
}

/** Adds `engines list` (startable builds) and `engines fetch` (a new build). */
export function addEnginesCommands(program: Command, { config, env }: MachineSettings): void {
  const load = () => import('../commands/engines.ts')
  const place = async () => ({ path: env['PATH'] ?? '', folder: (await config()).engines })
  const engines = program.command('engines').description('list and fetch the engine builds of this machine')
  engines
    .command('list')
    .description('list the builds on PATH and in the folder of builds')
    .option('--json', 'print JSON')
    .action(async (options: { readonly json?: boolean }) =>
      (await load()).listEngines(await place(), options.json === true),
    )
  engines
    .command('fetch')
    .description("fetch a build from Debian's suites into the folder of builds, checked, without root")
    .argument('<flavour>', 'valkey, redis or redict')
    .argument('[version]', 'like 8.1 or 8.1.1; without it the newest that Debian offers')
    .option('--unstable', 'also from the suites in development, sid and experimental')
    .action(
      async (flavour: string, version: string | undefined, { unstable = false }: { unstable?: boolean }) =>
        (await load()).fetchEngine(await place(), { flavour, version, alsoUnstable: unstable }),
    )
}
