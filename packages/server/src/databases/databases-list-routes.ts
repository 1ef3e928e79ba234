import { databaseSorts, type Input, listDatabases } from '@fairlead/api'
import { databasesFor } from '../core/identity/access.ts'
import {
  byUid,
  type DatabasesFilter,
  type DatabasesOrder,
  placeOf,
} from '../core/requests/databases-order.ts'
import { type Page, readCursor, writeCursor } from '../http/cursors.ts'
import type { Mount } from '../http/mount.ts'
import { storedStatusOf } from './database-wire.ts'
import { type UpgradeHint, withHint } from './databases-routes.ts'
import type { Databases, DatabaseView } from './databases-service.ts'
import type { ViewsQuery } from './list-views.ts'
import { showWithoutSecrets } from './show-database.ts'

/** Serves GET /v1/bdbs. The list leaves out databases that the caller may not see, and all secrets. */
export function databasesListRoutes(
  mount: Mount,
  databases: Pick<Databases, 'list'>,
  hints: () => Promise<UpgradeHint | undefined>,
): void {
  mount(listDatabases, async ({ query }, caller) => {
    const only = databasesFor(caller.user, 'view_all_bdbs_info')
    const hint = await hints()
    const { entries, next } = pageOfViews(await databases.list({ ...readListQuery(query), only }), query)
    return { entries: entries.map((view) => withHint(showWithoutSecrets(view), hint?.(view.database))), next }
  })
}

type Query = Input<typeof listDatabases>['query']

/** Wire words stop here: which databases a list has, in which order. With a limit one more is asked for, to know whether more follows. Throws InvalidInput. */
function readListQuery({ limit, offset, cursor, sort, ...filter }: Query): Omit<ViewsQuery, 'only'> {
  const order = orderOf(sort)
  const kind = order.by === 'uid' || order.by === 'memory_size' ? 'number' : 'text'
  const after = readCursor(sort ?? 'uid', kind, cursor)
  return {
    ...(limit !== undefined && { limit: limit + 1 }),
    ...(offset !== undefined && { offset }),
    ...{ order, after, filter: filterOf(filter) },
  }
}

/** The page of what `readListQuery` asked for. */
function pageOfViews(
  views: readonly DatabaseView[],
  { limit, sort }: Pick<Query, 'limit' | 'sort'>,
): Page<readonly DatabaseView[]> {
  const last = limit === undefined || views.length <= limit ? undefined : views[limit - 1]
  return {
    entries: limit === undefined ? views : views.slice(0, limit),
    next: last && writeCursor(sort ?? 'uid', placeOf(last.database, orderOf(sort))),
  }
}

function orderOf(sort: Query['sort']): DatabasesOrder {
  const by = databaseSorts.find((name) => sort === name || sort === `-${name}`)
  return by === undefined ? byUid : { by, descending: sort?.startsWith('-') === true }
}

function filterOf({
  q,
  status,
  engine_version,
}: Pick<Query, 'q' | 'status' | 'engine_version'>): DatabasesFilter {
  const [, flavour, version] = /^(?:([a-z]+)-)?(.+)$/.exec(engine_version ?? '') ?? []
  return {
    ...(q !== undefined && { q }),
    ...(status !== undefined && storedStatusOf(status)),
    ...(flavour !== undefined && { flavour }),
    ...(version !== undefined && { version }),
  }
}
