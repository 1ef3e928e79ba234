import type { Kysely } from 'kysely'

/** What only a person can remove is shown with the database, also while no action runs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('databases')
    .addColumn('obstacle', 'text', (column) => column.notNull().defaultTo(''))
    .execute()
}
