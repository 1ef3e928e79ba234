import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { ListPage, Place } from '../core/requests/list-order.ts'

/**
 * What a query answers of a page, in its order. `columns`: where the values are that a list can be sorted by. Each should have an index with the
 * uid behind it, so that a page reads its own rows only.
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
  // SQLite knows no offset without a limit.
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

/** Whether one of these columns contains `q`, whatever its case, or the uid is `q`. */
export function namedLike(q: string, columns: readonly string[]): RawBuilder<SqlBool> {
  const pattern = `%${q.replace(/[\\%_]/g, '\\$&')}%`
  // The store lowers both: which letters belong together is for it to say.
  const conditions = columns.map(
    (column) => sql`lower(${sql.ref(column)}) like lower(${pattern}) escape '\\'`,
  )
  const isUid = /^\d{1,9}$/.test(q) ? [sql`uid = ${Number(q)}`] : []
  return sql<SqlBool>`(${sql.join([...conditions, ...isUid], sql` or `)})`
}

/** Read at once: a list of all is put together from pieces, and others have their turn between them. */
const PIECE = 500

/**
 * The entries of a page, read piece by piece. One that is deleted meanwhile may be missing, no other. With `isWanted`, which looks at what no
 * statement can choose by, limit and offset count those that are wanted.
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
