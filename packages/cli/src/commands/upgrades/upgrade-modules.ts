import type { Context } from '../../link/open-context.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { findDatabase } from '../find-database.ts'
import { upgradeDatabases } from './upgrade-databases.ts'
import type { UpgradeOptions } from './upgrade-request.ts'

/** Upgrades modules of a database, by default all; keeps its build. Throws CommandFault without modules. */
export async function upgradeModules(
  context: Context,
  word: string,
  modules: readonly string[],
  options: UpgradeOptions,
): Promise<void> {
  const { name, module_list } = await findDatabase(await context.link(), word)
  const known = module_list.map(({ module_name }) => module_name)
  if (modules.length === 0 && known.length === 0)
    throw new CommandFault('refused', `${name} has no modules`, {
      next: 'look what there is: fairlead modules list',
    })
  const module = modules.length > 0 ? modules : known
  await upgradeDatabases(context, [word], {
    ...options,
    module,
    keepEngineVersion: true,
    command: 'modules upgrade',
  })
}
