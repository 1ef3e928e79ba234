import { type Input, listDatabases } from '@fairlead/api'
import { databasesFor } from '../../core/identity/access.ts'
import { readBuildFilter } from '../../core/requests/build-filter.ts'
import { type DatabasesFilter, type DatabasesOrder, placeOf } from '../../core/requests/databases-order.ts'
import type { Databases, DatabaseView } from '../../fleet/databases/databases-service.ts'
import { listPages } from '../../http/list-pages.ts'
import type { Mount } from '../../http/mount.ts'
import { storedStatusOf } from './database-wire.ts'
import { type UpgradeHint, withHint } from './databases-routes.ts'
import { showWithoutSecrets } from './show-database.ts'

/** Serves GET /v1/bdbs, without hidden databases and secrets. */
export function databasesListRoutes(
  mount: Mount,
  databases: Pick<Databases, 'list'>,
  hints: () => Promise<UpgradeHint | undefined>,
): void {
  mount(listDatabases, async ({ query }, caller) => {
    const only = databasesFor(caller.user, 'view_all_bdbs_info')
    const hint = await hints()
    const chosen = { ...pages.read(query), filter: filterOf(query), only }
    const { entries, next } = pages.answer(await databases.list(chosen), query)
    return { entries: entries.map((view) => withHint(showWithoutSecrets(view), hint?.(view.database))), next }
  })
}

type Query = Input<typeof listDatabases>['query']

const pages = listPages<DatabasesOrder['by'], DatabaseView>({
  list: 'bdbs',
  sorts: {
    uid: 'number',
    name: 'text',
    memory_size: 'number',
    created_time: 'text',
    last_changed_time: 'text',
  },
  usual: 'uid',
  placeOf: ({ database }, by) => placeOf(database, { by }),
})

/** Wire words stop here. */
function filterOf({
  q,
  status,
  engine_version,
}: Pick<Query, 'q' | 'status' | 'engine_version'>): DatabasesFilter {
  return {
    ...(q !== undefined && { q }),
    ...(status !== undefined && storedStatusOf(status)),
    ...readBuildFilter(engine_version),
  }
}
