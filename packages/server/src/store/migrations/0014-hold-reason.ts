import type { Kysely } from 'kysely'

/** Why an action waits, as a value beside its sentence. Null of those that were noted before. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('actions').addColumn('hold_reason', 'text').execute()
}
