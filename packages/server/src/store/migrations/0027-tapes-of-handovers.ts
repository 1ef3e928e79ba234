import type { Kysely } from 'kysely'

/** What the endpoint counted around a handover is kept with its certificate. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('handover_tapes')
    .addColumn('handover_id', 'integer', (column) => column.primaryKey())
    .addColumn('data', 'text', (column) => column.notNull())
    .execute()
}
