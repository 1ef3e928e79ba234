import type { Kysely } from 'kysely'

/** A database has a port that stays its own, whichever shard serves. Those of before get theirs at the next turn. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('databases').addColumn('endpoint_port', 'integer').execute()
  await db.schema
    .createIndex('one_database_a_port')
    .unique()
    .on('databases')
    .column('endpoint_port')
    .execute()
}
