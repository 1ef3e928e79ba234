import type { Kysely } from 'kysely'

/** Adds a code for the wait of an action. Null in older rows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('actions').addColumn('hold_reason', 'text').execute()
}
