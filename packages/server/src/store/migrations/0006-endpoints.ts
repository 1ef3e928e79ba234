import { type Kysely, sql } from 'kysely'

/**
 * Adds a constant port to each database, unless its clients know the shards, like those of older sharded
 * ones. Other older databases get theirs in the next turn.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('databases').addColumn('endpoint_port', 'integer').execute()
  await db.schema
    .alterTable('databases')
    .addColumn('oss_cluster', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await sql`update databases set oss_cluster = cluster`.execute(db)
  await db.schema
    .createIndex('one_database_a_port')
    .unique()
    .on('databases')
    .column('endpoint_port')
    .execute()
}
