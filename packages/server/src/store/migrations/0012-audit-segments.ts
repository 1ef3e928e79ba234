import type { Kysely } from 'kysely'

/** Old audit records are sealed into files. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('audit_segments')
    .addColumn('first_seq', 'integer', (column) => column.primaryKey())
    .addColumn('last_seq', 'integer', (column) => column.notNull())
    .addColumn('previous', 'text', (column) => column.notNull())
    .addColumn('head', 'text', (column) => column.notNull())
    .addColumn('file', 'text', (column) => column.notNull())
    .addColumn('sha256', 'text', (column) => column.notNull())
    .addColumn('bytes', 'integer', (column) => column.notNull())
    .addColumn('sealed_at', 'text', (column) => column.notNull())
    .addColumn('removed_at', 'text')
    .execute()
}
