import { type Kysely, sql } from 'kysely'

/** Adds indexes, so that queries about one database read only its rows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex('shards_by_database').on('shards').columns(['database_uid', 'id']).execute()
  await sql`create index shards_with_reservation on shards (reserved_bytes) where reserved_bytes > 0`.execute(
    db,
  )
  await db.schema
    .createIndex('handovers_by_database')
    .on('handovers')
    .columns(['database_uid', 'group_number', 'id'])
    .execute()
}
