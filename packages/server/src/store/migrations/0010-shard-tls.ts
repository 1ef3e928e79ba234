import type { Kysely } from 'kysely'

/** Adds TLS between the shards of a database. Older databases stay without it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('databases')
    .addColumn('shard_tls', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema.alterTable('shards').addColumn('tls_port', 'integer').execute()
}
