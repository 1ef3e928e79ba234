import type { Kysely } from 'kysely'

/** Adds browser sessions. `id` is the SHA-256 of the cookie, so a copy of the store opens no session. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_uid', 'integer', (column) => column.notNull())
    .addColumn('epoch', 'integer', (column) => column.notNull())
    .addColumn('signed_in_at', 'text', (column) => column.notNull())
    .addColumn('used_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('sessions_by_use').on('sessions').column('used_at').execute()
}
