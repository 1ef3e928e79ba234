import type { Kysely } from 'kysely'

/** Clients of a database may speak TLS; there is an authority, and a certificate for endpoints. Older databases do not use TLS. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('databases')
    .addColumn('tls', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema
    .createTable('tls_certificates')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('certificate', 'text', (column) => column.notNull())
    .addColumn('private_key', 'text', (column) => column.notNull())
    .addColumn('origin', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
}
