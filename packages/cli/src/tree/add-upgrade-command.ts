import { type Command, Option } from 'commander'
import { readWait, readWhole } from '../output/read-quantity.ts'
import type { Settings } from './client-command.ts'
import { acting, addClientCommand, collect } from './client-command.ts'

/** Ends of a command's wait: see followAction. */
export const waitChoices = ['ready', 'served', 'finalized'] as const

/** The option `--wait-timeout`. */
export function waitTimeout(): Option {
  return new Option('--wait-timeout <time>', 'longest wait, like 30m; the action continues').argParser(
    (text) => readWait('--wait-timeout', text),
  )
}

/** The option `--progress`. */
export function progress(): Option {
  return new Option('--progress <how>', 'drawn on a terminal (auto), in plain lines, or not at all').choices([
    ...(['auto', 'lines', 'none'] as const),
  ])
}

/** Adds `databases upgrade`. */
export function addUpgradeCommand(databases: Command, settings: Settings): void {
  const command = addClientCommand(
    databases,
    'upgrade',
    'upgrade databases in turn: shows the plan, asks, then follows the upgrade',
  )
  addGoal(command.argument('<databases...>', 'their names, or uids'))
  addWay(command)
    .option('--keep-going', 'continue with the next database after one that was not upgraded')
    .action(
      acting(
        settings,
        async () => (await import('../commands/upgrades/upgrade-databases.ts')).upgradeDatabases,
      ),
    )
}

/** Adds `modules upgrade`: the same, but keeps the build. */
export function addModuleUpgradeCommand(modules: Command, settings: Settings): void {
  const command = addClientCommand(
    modules,
    'upgrade',
    'upgrade modules of a database to the newest versions that its build allows; shows the plan, asks, then follows it',
  )
    .argument('<database>', 'its name, or its uid')
    .argument('[modules...]', 'NAME or NAME=ARGUMENTS; otherwise all that it has')
  addWay(command).action(
    acting(settings, async () => (await import('../commands/upgrades/upgrade-modules.ts')).upgradeModules),
  )
}

/** Options besides the goal: how to upgrade and to watch it. */
function addWay(command: Command): Command {
  return command
    .option('--preserve-roles', 'the role goes back to the same shards: one more handover')
    .option('--parallel <n>', 'maximum number of shards at a time, over all groups', (text) =>
      readWhole('--parallel', text),
    )
    .option('--no-canary', 'do not let the first group go ahead alone')
    .option('--supervised', 'stop before the first handover, until a user resumes it')
    .option(
      '--rollback-window <time>',
      'how long the old primaries stay as the way back, like 15m, or 0 for none; default: until-finalized',
    )
    .option('--may-discard-data', 'if nothing keeps the data: restart it empty, the quick way')
    .option('--force-discard', 'discard data even if replicas or files keep it')
    .option('--set <field=json>', 'any field of the request; may be repeated', collect, [])
    .option('--dry-run', 'the plan only; the server really starts the target, and removes it again')
    .option('--exit-code', '10: the dry run found changes')
    .option('--yes [name]', 'do not ask; if data may be discarded: the name of the database')
    .addOption(
      new Option(
        '--wait <until>',
        'ready: stop before the first handover (supervised); served: new build serves; finalized: window over',
      )
        .choices([...waitChoices])
        .default('served'),
    )
    .option('--no-wait', 'begin it, and print the uid of its action')
    .addOption(waitTimeout())
    .addOption(progress())
}

/** Options of the goal. */
function addGoal(command: Command): void {
  command
    .option(
      '--to <build>',
      'like 9.1, valkey-9.1 or latest (the newest of its flavour); default: the recommended target of all flavours',
    )
    .option('--keep-engine-version', 'upgrade modules only, or restart')
    .option('--latest-with-modules', 'the newest build with the newest modules that it allows')
    .option('--restart', 'restart shards even if no version changes')
    .option(
      '--module <name[=args]>',
      'to its newest version that the build allows; may be repeated',
      collect,
      [],
    )
}
