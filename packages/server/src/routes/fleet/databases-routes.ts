import { type Build, createDatabase, type Database as DatabaseAnswer, getDatabase } from '@fairlead/api'
import { actorOf } from '../../core/identity/access.ts'
import type { Databases, DatabaseView } from '../../fleet/databases/databases-service.ts'
import type { Mount } from '../../http/mount.ts'
import { fromWire } from './database-wire.ts'
import { show } from './show-database.ts'

/** Serves creation and display of one database. */
export function databasesRoutes(
  mount: Mount,
  databases: Databases,
  hints: () => Promise<UpgradeHint | undefined>,
): void {
  mount(getDatabase, async ({ params }, caller) => {
    const [hint, view] = [await hints(), await databases.get(params.uid)]
    return withHint(show(view, caller), hint?.(view.database))
  })

  mount(createDatabase, async ({ body }, caller) =>
    show(await databases.create(fromWire(body), actorOf(caller)), caller),
  )
}

/** The newest possible upgrade target of a database; null: it runs that build. */
export type UpgradeHint = (database: DatabaseView['database']) => Build | null

/** Adds the upgrade build; undefined: unknown. */
export function withHint(answer: DatabaseAnswer, to: Build | null | undefined): DatabaseAnswer {
  if (to === undefined) return answer
  return { ...answer, upgradable_to: to && { engine: to.flavour, engine_version: to.version } }
}
