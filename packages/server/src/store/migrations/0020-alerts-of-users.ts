import type { Kysely } from 'kysely'

/** What programs of the wider API set for a user, and read again. Users that are there have the default of that API. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('users')
    .addColumn('alerts', 'text', (column) =>
      column.notNull().defaultTo('{"email":true,"cluster":true,"databases":[]}'),
    )
    .execute()
}
