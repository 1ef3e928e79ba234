import { type Kysely, sql } from 'kysely'

/**
 * A database has a port that stays its own, whichever shard serves; but for those whose clients know its shards. Older databases get
 * theirs at the next turn; the clients of sharded ones were told their shards, and still are.
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
