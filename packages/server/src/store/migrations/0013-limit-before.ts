import type { Kysely } from 'kysely'

/** Keeps the limit of a shard before a full sync raised it, so that a later server restores it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('shards').addColumn('limit_before', 'text').execute()
}
