import type { Kysely } from 'kysely'

/** What the limit of a shard's process was before it was raised for a full sync: a server that comes later puts it back. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('shards').addColumn('limit_before', 'text').execute()
}
