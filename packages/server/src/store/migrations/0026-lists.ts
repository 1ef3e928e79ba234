import { type Kysely, sql } from 'kysely'

/** Lets a page of databases be read without its preceding rows, in each order. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const index of [
    'databases_by_size on databases (memory_bytes, uid)',
    'databases_by_creation on databases (created_at, uid)',
    'databases_by_change on databases (changed_at, uid)',
    'databases_by_name on databases (name, uid)',
    'databases_by_status on databases (status, uid)',
    'databases_by_build on databases (flavour, version, uid)',
    'audit_by_type on audit (type, seq)',
    'audit_by_originator on audit (originator, seq)',
  ])
    await sql.raw(`create index ${index}`).execute(db)
}
