import type { Kysely } from 'kysely'

/** Adds the process of a recorded history: a process may begin another. Older rows have none. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('groups').addColumn('history_run_id', 'text').execute()
}
