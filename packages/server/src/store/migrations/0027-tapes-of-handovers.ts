import type { Kysely } from 'kysely'

/** Keeps the endpoint's counts around a handover. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('handover_tapes')
    .addColumn('handover_id', 'integer', (column) => column.primaryKey())
    .addColumn('data', 'text', (column) => column.notNull())
    .execute()
}
