import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { ListPage, Place } from '../core/requests/list-order.ts'

/**
 * Selects one page of a query. `columns` are the columns to sort by, each indexed with the uid at the end, so
 * that a page reads only its rows.
 */
export function choosePage<Query extends Paged<Query>, By extends string>(
  query: Query,
  columns: Readonly<Record<By, string>>,
  { order, after, limit, offset = 0 }: ListPage<By>,
): Query {
  const column = columns[order.by]
  const direction = order.descending ? 'desc' : 'asc'
  let chosen = query.orderBy(sql.ref(column), direction)
  if (column !== 'uid') chosen = chosen.orderBy(sql.ref('uid'), direction)
  // SQLite has no offset without a limit.
  if (limit !== undefined || offset > 0)
    chosen = chosen.limit(limit ?? Number.MAX_SAFE_INTEGER).offset(offset)
  if (after === undefined) return chosen
  const than = sql.raw(order.descending ? '<' : '>')
  return chosen.where(
    column === 'uid'
      ? sql<SqlBool>`uid ${than} ${after.uid}`
      : sql<SqlBool>`(${sql.ref(column)}, uid) ${than} (${after.value}, ${after.uid})`,
  )
}

/** Returns whether one of the columns contains `q`, ignoring case, or the uid is `q`. */
export function namedLike(q: string, columns: readonly string[]): RawBuilder<SqlBool> {
  const pattern = `%${q.replace(/[\\%_]/g, '\\$&')}%`
  // The store lowers both sides by the same rules.
  const conditions = columns.map(
    (column) => sql`lower(${sql.ref(column)}) like lower(${pattern}) escape '\\'`,
  )
  const isUid = /^\d{1,9}$/.test(q) ? [sql`uid = ${Number(q)}`] : []
  return sql<SqlBool>`(${sql.join([...conditions, ...isUid], sql` or `)})`
}

/** Rows per query: other work runs between the queries of a full list. */
const PIECE = 500

/**
 * Reads a page in pieces; only entries deleted in between may be missing. With `isWanted`, a condition
 * outside of SQL, limit and offset count wanted entries.
 */
export async function readInPieces<By extends string, Entry>(
  { limit = Number.POSITIVE_INFINITY, offset = 0, after, order }: ListPage<By>,
  read: (
    piece: ListPage<By> & { readonly limit: number; readonly offset: number },
  ) => Promise<readonly Entry[]>,
  placeOf: (entry: Entry, by: By) => Place,
  isWanted?: (entry: Entry) => boolean,
): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  let place = { after, offset: isWanted === undefined ? offset : 0 }
  const end = isWanted === undefined ? limit : offset + limit
  while (entries.length < end) {
    const wanted = isWanted === undefined ? Math.min(PIECE, end - entries.length) : PIECE
    const piece = await read({ ...place, order, limit: wanted })
    for (const entry of piece) if (isWanted?.(entry) !== false) entries.push(entry)
    const last = piece.at(-1)
    if (last === undefined || piece.length < wanted) break
    place = { after: placeOf(last, order.by), offset: 0 }
  }
  return isWanted === undefined ? entries : entries.slice(offset, end)
}

interface Paged<Query> {
  orderBy(by: RawBuilder<unknown>, direction: 'asc' | 'desc'): Query
  where(condition: RawBuilder<SqlBool>): Query
  limit(most: number): Query
  offset(first: number): Query
}
