import { type Kysely, sql } from 'kysely'

/** Adds indexes for queries about one database, port, role or page. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const index of [
    'shards_by_port on shards (port)',
    'shards_by_tls_port on shards (tls_port)',
    'databases_by_memory on databases (memory_bytes, replicas)',
    'actions_by_status on actions (status, created_at, uid)',
    'audit_by_database on audit (database_uid, seq)',
    'logins_by_user on logins (user_uid)',
    'user_roles_by_role on user_roles (role_uid, user_uid)',
  ])
    await sql.raw(`create index ${index}`).execute(db)
}
