import type { Kysely } from 'kysely'

/** Keeps a shard's limit before a full sync raised it, for a later server. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('shards').addColumn('limit_before', 'text').execute()
}
