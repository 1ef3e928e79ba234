import { type Kysely, sql } from 'kysely'

/** Adds the server of each database on a shared store, and the order of changed databases. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('buckets')
    .addColumn('bucket', 'integer', (column) => column.primaryKey())
    .addColumn('holder', 'text')
    .addColumn('epoch', 'integer', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute()
  const rows = Array.from({ length: 257 }, (_, bucket) => `(${bucket}, null, 0, 0)`).join(', ')
  await sql.raw(`insert into buckets (bucket, holder, epoch, expires_at) values ${rows}`).execute(db)
  await db.schema
    .createTable('servers')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('seen_at', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .alterTable('databases')
    .addColumn('seq', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema.createIndex('databases_seq').on('databases').column('seq').execute()
}
