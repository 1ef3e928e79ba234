import type { Kysely } from 'kysely'

/** Logins are counted by source: a lock holds for the source that failed. Failures counted before this migration count as those of strangers. */
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
