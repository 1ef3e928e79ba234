import type { Kysely } from 'kysely'

/** What was measured: a row for each five minutes and each hour in which something worked, for all databases together. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('statistics')
    .addColumn('resolution', 'text', (column) => column.notNull())
    .addColumn('slot', 'integer', (column) => column.notNull())
    .addColumn('points', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('statistics_key', ['resolution', 'slot'])
    .execute()
}
