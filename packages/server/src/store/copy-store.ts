import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Db, Store } from './open-store.ts'
import { storableText } from './storable.ts'
import type { Tables } from './tables.ts'

/** All tables except leases and servers, which belong to their store. References point to earlier tables. */
export const copiedTables = [
  ...(['counters', 'users', 'logins', 'login_lanes', 'passwords', 'roles', 'user_roles'] as const),
  ...(['signing_keys', 'tls_certificates', 'revoked_tokens', 'sessions', 'settings'] as const),
  ...([
    'audit',
    'databases',
    'former_access',
    'acls',
    'roles_permissions',
    'groups',
    'shards',
    'actions',
    'action_lanes',
    'action_events',
    'handovers',
  ] as const),
  ...(['handover_tapes', 'changes'] as const),
  ...(['modules', 'module_actions'] as const),
] satisfies readonly (keyof Tables)[]
type Table = (typeof copiedTables)[number]

const PAGE = 500
/** A server seen this recently may run. The length of a lease. */
const SEEN_MS = 15_000

/** Cursors for walking a table: row numbers on SQLite, row positions on PostgreSQL. */
const walks = {
  embedded: { place: sql`rowid`, start: sql`0` },
  postgres: { place: sql`ctid`, start: sql`'(0,0)'::tid` },
} as const
type Walk = keyof typeof walks

/**
 * Copies all rows of `from`, which has no server, into `to`, in one transaction, sealed values unopened.
 * Returns their number. Throws if `to` was used, or a row arrived changed; a complete earlier copy counts as
 * success, since its answer may be lost.
 */
export async function copyStore(from: Store, to: Store): Promise<number> {
  const [near, epochs] = [from.db.withoutPlugins(), await from.db.selectFrom('buckets').selectAll().execute()]
  return await to.transaction(async (within) => {
    const far = within.withoutPlugins()
    await refuseServed(far)
    const used = await findUsed(far)
    if (used !== undefined) return await countSame(near, far, used)
    for (const table of copiedTables.toReversed())
      await sql`delete from ${sql.table(table)} where ${isOurs(table)}`.execute(far)
    let rows = 0
    for (const table of copiedTables) rows += await copyTable(table, near, far)
    for (const { bucket, epoch } of epochs)
      await far
        .updateTable('buckets')
        .set((eb) => ({ epoch: eb('epoch', '+', epoch) }))
        .where('bucket', '=', bucket)
        .execute()
    return rows
  })
}

/** Excludes the commit marks of running transactions. */
function isOurs(table: Table) {
  return table === 'counters' ? sql`name not like 'commit:%'` : sql`1 = 1`
}

async function refuseServed(far: Db): Promise<void> {
  const seen = sql<{ name: string }>`select name from servers
    where seen_at > extract(epoch from clock_timestamp()) * 1000 - ${SEEN_MS}`
  const [server] = (await seen.execute(far)).rows
  if (server !== undefined)
    throw new Error(
      `a server (${server.name}) uses the PostgreSQL database, or did a moment ago; stop it first`,
    )
}

/** A new store has only roles. */
async function findUsed(db: Db): Promise<Table | undefined> {
  for (const table of ['users', 'databases', 'audit'] as const) {
    const some = await db.selectFrom(table).select(sql<number>`1`.as('one')).limit(1).execute()
    if (some.length > 0) return table
  }
  return undefined
}

/** An earlier copy may have ended after its commit, before the file was renamed. */
async function countSame(near: Db, far: Db, used: Table): Promise<number> {
  let rows = 0
  for (const table of copiedTables) {
    const [here, there] = [await digestOf(table, near, 'embedded'), await digestOf(table, far, 'postgres')]
    if (here.text() !== there.text()) throw new Error(`the PostgreSQL database is in use: it has ${used}`)
    rows += here.rows()
  }
  return rows
}

async function copyTable(table: Table, near: Db, far: Db): Promise<number> {
  const here = createTableDigest()
  for await (const rows of pagesOf(table, near, 'embedded')) {
    for (const row of rows) here.add(row)
    // The same columns: this version has migrated both stores.
    await far
      .insertInto(table)
      .values(rows as never)
      .execute()
  }
  const there = await digestOf(table, far, 'postgres')
  if (there.text() !== here.text())
    throw new Error(`${table} has not arrived as it was: ${there.rows()} of ${here.rows()} rows`)
  return here.rows()
}

async function digestOf(table: Table, db: Db, walk: Walk): Promise<TableDigest> {
  const digest = createTableDigest()
  for await (const rows of pagesOf(table, db, walk)) for (const row of rows) digest.add(row)
  return digest
}

type Row = Readonly<Record<string, unknown>>

/**
 * Texts are normalized, since an old embedded store may have others. Each page continues after the previous
 * one, so that all cost the same.
 */
async function* pagesOf(table: Table, db: Db, walk: Walk): AsyncGenerator<readonly Row[]> {
  const { place, start } = walks[walk]
  for (let after: unknown; ; ) {
    const from = after === undefined ? start : walk === 'postgres' ? sql`${after}::tid` : sql`${after}`
    const page = sql<Row & { walked: unknown }>`select ${place} as walked, * from ${sql.table(table)}
      where ${isOurs(table)} and ${place} > ${from} order by ${place} limit ${PAGE}`
    const { rows } = await page.execute(db)
    if (rows.length === 0) return
    after = rows.at(-1)?.walked
    yield rows.map(({ walked: _, ...row }) => storableRow(row))
  }
}

function storableRow(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      typeof value === 'string' ? storableText(value) : value,
    ]),
  )
}

/** Digest of a table, independent of the order of rows and columns. */
interface TableDigest {
  add(row: Readonly<Record<string, unknown>>): void
  rows(): number
  /** Equal for equal rows. */
  text(): string
}

/** Creates an empty digest. Its memory does not grow with the rows. */
function createTableDigest(): TableDigest {
  let [rows, sum] = [0, 0n]
  return {
    add(row) {
      const fields = Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1))
      const hash = createHash('sha256').update(JSON.stringify(fields)).digest('hex')
      rows += 1
      sum += BigInt(`0x${hash}`)
    },
    rows: () => rows,
    text: () => `${rows} ${sum.toString(16)}`,
  }
}
