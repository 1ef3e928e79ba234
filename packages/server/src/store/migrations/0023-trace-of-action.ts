import type { Kysely } from 'kysely'

/** Lets work on an action join the trace of its request, on any server. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('actions').addColumn('traceparent', 'text').execute()
}
