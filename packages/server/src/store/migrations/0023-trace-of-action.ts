import type { Kysely } from 'kysely'

/** By which the work on an action joins the trace of the request that began it, whichever server does it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('actions').addColumn('traceparent', 'text').execute()
}
