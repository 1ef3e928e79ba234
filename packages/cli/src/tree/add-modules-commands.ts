import type { Command } from 'commander'
import type { JsonOption, PackOptions } from '../commands/modules.ts'
import type { Settings } from './settings.ts'

const load = () => import('../commands/modules.ts')

/**
 * Adds `modules pack`, which needs nothing but a file, and `modules upload`, `list` and `rm`, which speak to the server of
 * this machine through its socket in FAIRLEAD_HOME.
 */
export function addModulesCommands(program: Command, { config }: Settings): void {
  const home = async () => (await config()).home
  const modules = program.command('modules').description('the modules that databases can have')
  addPack(modules)
  modules
    .command('upload')
    .description('add a package to the catalogue')
    .argument('<file>', 'the package')
    .option('--json', 'print JSON')
    .action(async (file: string, options: JsonOption) =>
      (await load()).uploadModule(await home(), file, options),
    )
  modules
    .command('list')
    .description('list the catalogue')
    .option('--json', 'print JSON')
    .action(async (options: JsonOption) => (await load()).listModules(await home(), options))
  modules
    .command('rm')
    .description('take a module that no database uses out of the catalogue')
    .argument('<uid>', 'as listed')
    .action(async (uid: string) => (await load()).deleteModule(await home(), uid))
}

function addPack(modules: Command): void {
  modules
    .command('pack')
    .description('make the package that an upload takes from a shared object')
    .argument('<file>', 'the .so')
    .requiredOption('--name <name>', 'what MODULE LIST calls it')
    .requiredOption('--version <version>', 'its version, like 1.2.0')
    .requiredOption('-o, --output <file>', 'the package to write')
    .option('--display-name <name>', 'what people call it')
    .option('--args <text>', 'its arguments where a database names none')
    .option('--capability <name>', 'what it supports; may be repeated', addTo, [])
    .option('--min-engine-version <version>', 'the oldest engine that it runs in, like 7.2')
    .option('--self-test <file>', 'JSON: a list of {"command": ["NAME", …], "reply": …}')
    .action(async (file: string, options: PackOptions, command: Command) => {
      const { unknownCapability, packFile } = await load()
      const fault = unknownCapability(options.capability)
      if (fault !== undefined) command.error(`error: option '--capability <name>': ${fault}`)
      await packFile(file, options)
    })
}

function addTo(name: string, before: readonly string[]): readonly string[] {
  return [...before, name]
}
