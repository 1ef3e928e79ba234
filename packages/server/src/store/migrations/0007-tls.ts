import type { Kysely } from 'kysely'

/**
 * Adds TLS for clients of a database, the authority and the endpoint certificate. Off for older databases.
 */
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
