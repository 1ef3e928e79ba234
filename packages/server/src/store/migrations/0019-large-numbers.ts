import { type Kysely, PostgresAdapter, sql } from 'kysely'

/** Bytes may exceed PostgreSQL's `integer` (2 GiB); SQLite's has no such limit. */
export async function up(db: Kysely<unknown>): Promise<void> {
  if (!(db.getExecutor().adapter instanceof PostgresAdapter)) return
  for (const [table, column] of [
    ['shards', 'reserved_bytes'],
    ['modules', 'size_bytes'],
    ['audit_segments', 'bytes'],
  ] as const)
    await sql`alter table ${sql.table(table)} alter column ${sql.ref(column)} type bigint`.execute(db)
}
