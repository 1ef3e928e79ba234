import type { Kysely } from 'kysely'

/** Where the history on record branched off from the one before it: a snapshot of either can be compared. Null where it is not known. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('groups').addColumn('history_before_replid', 'text').execute()
  await db.schema.alterTable('groups').addColumn('history_before_until', 'bigint').execute()
}
