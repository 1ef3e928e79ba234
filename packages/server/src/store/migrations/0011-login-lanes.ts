import type { Kysely } from 'kysely'

/** Counts logins by source: a lock affects only that source. Earlier failures count for unknown sources. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('login_lanes')
    .addColumn('user_uid', 'integer', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('known', 'integer', (column) => column.notNull())
    .addColumn('failures', 'integer', (column) => column.notNull())
    .addColumn('failed_at', 'text')
    .addColumn('locked_until', 'text')
    .addColumn('used_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('one_lane_a_source', ['user_uid', 'source'])
    .execute()
}
