import type { Kysely } from 'kysely'

/** Old records of the audit are removed, not moved into files. `audit_sealed` records name what was moved. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.dropTable('audit_segments').execute()
}
