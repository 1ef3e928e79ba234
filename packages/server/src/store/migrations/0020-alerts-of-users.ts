import type { Kysely } from 'kysely'

/** Adds alert settings for the wider API's programs. Existing users get its default. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('users')
    .addColumn('alerts', 'text', (column) =>
      column.notNull().defaultTo('{"email":true,"cluster":true,"databases":[]}'),
    )
    .execute()
}
