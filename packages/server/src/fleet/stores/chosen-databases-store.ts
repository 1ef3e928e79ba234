import { type SqlBool, sql } from 'kysely'
import {
  byUid,
  type DatabasesFilter,
  type DatabasesOrder,
  type Place,
} from '../../core/requests/list-order.ts'
import { choosePage, namedLike } from '../../store/choose-page.ts'
import type { Db } from '../../store/open-store.ts'

/** A page: at most `limit` entries after `offset` skipped ones and `after`; `only` these unless null. */
export interface DatabasesPage {
  readonly limit: number
  readonly offset: number
  readonly only: readonly number[] | null
  readonly after?: Place | undefined
  readonly filter?: DatabasesFilter
  readonly order?: DatabasesOrder
}

/** Indexed with the uid at the end (migration 0026): a page reads only its rows. */
const columns = {
  uid: 'uid',
  name: 'name',
  memory_size: 'memory_bytes',
  created_time: 'created_at',
  last_changed_time: 'changed_at',
} as const satisfies Record<DatabasesOrder['by'], string>

/** Rows of `databases` for one page, in order. */
export function chooseDatabases(
  db: Db,
  { limit, offset, only, after, filter = {}, order = byUid }: DatabasesPage,
) {
  let query = choosePage(db.selectFrom('databases').selectAll(), columns, { order, after, limit, offset })
  if (only !== null) query = query.where('uid', 'in', [...only])
  return conditionsOf(filter).reduce((chosen, condition) => chosen.where(condition), query)
}

function conditionsOf({ q, status, hasObstacle, flavour, version }: DatabasesFilter) {
  return [
    ...(q === undefined ? [] : [namedLike(q, ['name'])]),
    ...(status === undefined ? [] : [sql<SqlBool>`status = ${status}`]),
    ...(hasObstacle === undefined ? [] : [sql<SqlBool>`(obstacle <> '') = ${sql.raw(String(hasObstacle))}`]),
    ...(flavour === undefined ? [] : [sql<SqlBool>`flavour = ${flavour}`]),
    ...(version === undefined
      ? []
      : [sql<SqlBool>`(version = ${version} or version like ${`${version}.%`})`]),
  ]
}
