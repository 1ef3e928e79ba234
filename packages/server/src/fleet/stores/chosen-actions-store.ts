import type { ActionOutcome } from '@fairlead/api'
import { type SqlBool, sql } from 'kysely'
import type { ActionsFilter, ActionsOrder, ListPage } from '../../core/requests/list-order.ts'
import { choosePage, namedLike } from '../../store/choose-page.ts'
import type { Db } from '../../store/open-store.ts'

/** A page of actions. */
export interface ActionsQuery extends ListPage<ActionsOrder['by']>, ActionsFilter {
  /** Only actions of these databases; default: all. */
  readonly databases?: readonly number[]
}

/** Indexed with the uid at the end (migration 0028): a page reads only its rows. */
const columns = {
  created_time: 'created_at',
  last_changed_time: 'changed_at',
} as const satisfies Record<ActionsOrder['by'], string>

/** Rows of `actions` for one page, in order. */
export function chooseActions(db: Db, { databases, ...query }: ActionsQuery) {
  let chosen = choosePage(db.selectFrom('actions').selectAll(), columns, query)
  // For an empty list: `in ()` is no SQL.
  if (databases !== undefined)
    chosen =
      databases.length === 0
        ? chosen.where(sql<SqlBool>`1 = 0`)
        : chosen.where('database_uid', 'in', [...databases])
  return conditionsOf(query).reduce((all, condition) => all.where(condition), chosen)
}

function conditionsOf({ status, phase, outcome, database, q }: ActionsFilter) {
  return [
    ...(status === undefined ? [] : [sql<SqlBool>`status = ${status}`]),
    ...(phase === undefined ? [] : [sql<SqlBool>`phase = ${phase}`]),
    ...(outcome === undefined ? [] : [endedAs(outcome)]),
    ...(database === undefined ? [] : [sql<SqlBool>`database_uid = ${database}`]),
    ...(q === undefined ? [] : [ofNamed(q)]),
  ]
}

/** Like `outcomeOf`. */
function endedAs(outcome: ActionOutcome) {
  if (outcome === 'completed') return sql<SqlBool>`status = 'done'`
  return sql<SqlBool>`status = 'failed' and coalesce(ending, 'failed') = ${outcome}`
}

function ofNamed(q: string) {
  const named = sql<SqlBool>`database_uid in (select uid from databases where ${namedLike(q, ['name'])})`
  return /^\d{1,9}$/.test(q) ? sql<SqlBool>`(${named} or database_uid = ${Number(q)})` : named
}
