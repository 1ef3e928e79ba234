import type { Command } from 'commander'
import type { MachineSettings } from './settings.ts'

/**
 * Adds `up` and `down`, and `server` and `agent`, which `up` runs. They speak to clients or engines, so as
 * root they become the owner of FAIRLEAD_HOME.
 */
export function addPartCommands(program: Command, { config, env }: MachineSettings): void {
  const asOwner = async () => {
    const read = await config()
    const { giveUpRoot } = await import('../home/give-up-root.ts')
    giveUpRoot(read.home)
    return read
  }
  program
    .command('up')
    .description('run server and agent in the foreground; Ctrl-C stops them and leaves databases running')
    .action(async () => (await import('../commands/up.ts')).runUp(await asOwner(), env))
  program
    .command('down')
    .description('stop what `fairlead up` runs')
    .option(
      '--all',
      'stop the database processes and the proxy too; they keep their data and come back at the next start',
    )
    .action(async (options: { readonly all?: boolean }) =>
      (await import('../commands/down.ts')).runDown(await asOwner(), options.all === true),
    )
  program
    .command('server')
    .description('run the server alone')
    .action(async () => (await import('../commands/server.ts')).runServer(await asOwner(), env))
  program
    .command('agent')
    .description('run the agent of this machine alone')
    .action(async () => (await import('../commands/agent.ts')).runAgent(await asOwner(), env['PATH'] ?? ''))
}
