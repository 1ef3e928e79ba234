import type { Command } from 'commander'
import type { MachineSettings } from './settings.ts'

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
    .action(async (flavour: string, version: string | undefined) =>
      (await load()).fetchEngine(await place(), flavour, version),
    )
}
