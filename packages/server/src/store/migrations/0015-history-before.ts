import type { Kysely } from 'kysely'

/** Adds the branching point of a history from the previous one, to compare snapshots. Null: unknown. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('groups').addColumn('history_before_replid', 'text').execute()
  await db.schema.alterTable('groups').addColumn('history_before_until', 'bigint').execute()
}
