import type { Kysely } from 'kysely'

/** Whose history is on record: a process may begin another one by itself. Older histories do not say. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('groups').addColumn('history_run_id', 'text').execute()
}
