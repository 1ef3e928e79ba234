import type { Kysely } from 'kysely'

/** Statistics are kept in memory for two hours; Prometheus has the history. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.dropTable('statistics').execute()
}
