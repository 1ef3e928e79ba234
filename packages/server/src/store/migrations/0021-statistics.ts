import type { Kysely } from 'kysely'

/** Adds statistics: one row for all databases per five minutes and per hour with activity. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('statistics')
    .addColumn('resolution', 'text', (column) => column.notNull())
    .addColumn('slot', 'integer', (column) => column.notNull())
    .addColumn('points', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('statistics_key', ['resolution', 'slot'])
    .execute()
}
