import type { Command } from 'commander'
import type { PackOptions } from '../commands/modules.ts'
import { addModuleUpgradeCommand } from './add-upgrade-command.ts'
import type { Settings } from './client-command.ts'
import { acting, addClientCommand, collect, needing } from './client-command.ts'

const load = () => import('../commands/modules.ts')
const catalogue = () => import('../commands/modules-catalogue.ts')

/** Adds `modules pack`, for a file only, and `modules upload`, `list` and `delete`, which use the server. */
export function addModulesCommands(program: Command, settings: Settings): void {
  const modules = program.command('modules').description('the modules that databases can have')
  addPack(modules)
  addClientCommand(modules, 'upload', 'add a package to the catalogue')
    .argument('<file>', 'the package')
    .option('--yes [profile]', 'of a protected profile: its name, to be not asked')
    .action(acting(settings, async () => (await catalogue()).uploadModule))
  addClientCommand(modules, 'list', 'list the catalogue').action(
    acting(settings, async () => (await catalogue()).listModules),
  )
  addModuleUpgradeCommand(modules, settings)
  addClientCommand(modules, 'delete', 'remove a module that no database uses from the catalogue')
    .alias('rm')
    .argument('<module>', 'its uid, or NAME@VERSION')
    .option('--yes [profile]', 'do not ask')
    .action(acting(settings, async () => (await catalogue()).deleteModule))
}

function addPack(modules: Command): void {
  const pack = modules
    .command('pack')
    .description('make the package that an upload takes from a shared object')
    .argument('<file>', 'the .so')
  needing(pack, '--name <name>', 'its name in MODULE LIST')
  needing(pack, '--version <version>', 'its version, like 1.2.0')
  needing(pack, '-o, --output <file>', 'the package to write')
    .option('--display-name <name>', 'what people call it')
    .option('--args <text>', 'its default arguments')
    .option('--capability <name>', 'what it supports; may be repeated', collect, [])
    .option('--min-engine-version <version>', 'the oldest engine that it runs in, like 7.2')
    .option('--self-test <file>', 'JSON: a list of {"command": ["NAME", …], "reply": …}')
    .action(async (file: string, options: PackOptions, command: Command) => {
      const { unknownCapability, packFile } = await load()
      const fault = unknownCapability(options.capability)
      if (fault !== undefined) command.error(`error: option '--capability <name>': ${fault}`)
      await packFile(file, options)
    })
}
