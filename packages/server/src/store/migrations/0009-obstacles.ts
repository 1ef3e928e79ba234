import type { Kysely } from 'kysely'

/** Shows an obstacle that only a person can remove at the database, also without an action. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('databases')
    .addColumn('obstacle', 'text', (column) => column.notNull().defaultTo(''))
    .execute()
}
