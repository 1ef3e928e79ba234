import type { Command } from 'commander'
import { acting, addClientCommand, addWatchable } from './client-command.ts'
import type { Settings } from './settings.ts'

/** Adds `status` and `doctor`. */
export function addClusterCommands(program: Command, settings: Settings): void {
  const status = addClientCommand(
    program,
    'status',
    'show what needs you, what moves, and how many databases are behind their newest build',
  )
  addWatchable(status, settings, async (context) =>
    (await import('../commands/cluster/status.ts')).showStatus(context),
  )
  addClientCommand(
    program,
    'doctor',
    'check this machine and the way to the server, and change nothing; exit code 1 if a check fails',
  ).action(
    acting(settings, async (context) =>
      (await import('../commands/cluster/doctor.ts')).runDoctor(context, settings.checkHere),
    ),
  )
}
