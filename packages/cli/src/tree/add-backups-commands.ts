import type { Command } from 'commander'
import type { Settings } from './client-command.ts'
import { acting, addClientCommand, addWatchable } from './client-command.ts'

const load = () => import('../commands/backups.ts')

/** Adds `backups …`. */
export function addBackupsCommands(program: Command, settings: Settings): void {
  const backups = program.command('backups').description('the backups of databases')
  const list = addClientCommand(
    backups,
    'list',
    'list the backups, the newest first, of databases that are gone, too',
  ).option('--database <database>', 'those of the database with this name or uid')
  addWatchable(list, settings, async () => (await load()).listBackups)
  addClientCommand(backups, 'delete', 'delete a backup; one that is being made is ended')
    .alias('rm')
    .argument('<backup>', 'its name')
    .option('--yes [profile]', 'do not ask')
    .action(acting(settings, async () => (await load()).deleteBackup))
}
