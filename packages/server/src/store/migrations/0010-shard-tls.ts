import type { Kysely } from 'kysely'

/** Shards of a sharded database may speak TLS to each other. Older databases do not use TLS, and this does not change. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('databases')
    .addColumn('shard_tls', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema.alterTable('shards').addColumn('tls_port', 'integer').execute()
}
