import { type Kysely, PostgresAdapter, sql } from 'kysely'

/** Bytes, which may be more than PostgreSQL's `integer` holds (2 GiB); SQLite's holds them all. */
export async function up(db: Kysely<unknown>): Promise<void> {
  if (!(db.getExecutor().adapter instanceof PostgresAdapter)) return
  for (const [table, column] of [
    ['shards', 'reserved_bytes'],
    ['modules', 'size_bytes'],
    ['audit_segments', 'bytes'],
  ] as const)
    await sql`alter table ${sql.table(table)} alter column ${sql.ref(column)} type bigint`.execute(db)
}
