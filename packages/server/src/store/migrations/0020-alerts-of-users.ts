import type { Kysely } from 'kysely'

/** Adds alert settings, which programs of the wider API write and read. Existing users get its default. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('users')
    .addColumn('alerts', 'text', (column) =>
      column.notNull().defaultTo('{"email":true,"cluster":true,"databases":[]}'),
    )
    .execute()
}
