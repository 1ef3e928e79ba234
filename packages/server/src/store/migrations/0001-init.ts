import { type Kysely, sql } from 'kysely'

/** The first schema. Forward only: a later change is a new file. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('counters')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'integer', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('users')
    .addColumn('uid', 'integer', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('password_hash', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('changed_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('signing_keys')
    .addColumn('kid', 'text', (column) => column.primaryKey())
    .addColumn('private_jwk', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await createDatabases(db)
  await createActions(db)
}

async function createDatabases(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('databases')
    .addColumn('uid', 'integer', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('flavour', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('restart_nonce', 'integer', (column) => column.notNull())
    .addColumn('memory_bytes', 'bigint', (column) => column.notNull())
    .addColumn('replicas', 'integer', (column) => column.notNull())
    .addColumn('persistence', 'text', (column) => column.notNull())
    .addColumn('aof_fsync', 'text', (column) => column.notNull())
    .addColumn('snapshots', 'text', (column) => column.notNull())
    .addColumn('eviction_policy', 'text', (column) => column.notNull())
    .addColumn('admin_password', 'text', (column) => column.notNull())
    .addColumn('user_password', 'text', (column) => column.notNull())
    .addColumn('primary_shard', 'integer')
    .addColumn('history_replid', 'text')
    .addColumn('history_offset', 'bigint')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('changed_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('shards')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('database_uid', 'integer', (column) => column.notNull().references('databases.uid'))
    .addColumn('node_uid', 'integer', (column) => column.notNull())
    .addColumn('host', 'text', (column) => column.notNull())
    .addColumn('port', 'integer', (column) => column.notNull())
    .addColumn('flavour', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('restart_nonce', 'integer', (column) => column.notNull())
    .addColumn('follows', 'integer')
    .addColumn('leaving', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('one_shard_a_port', ['node_uid', 'port'])
    .execute()
}

async function createActions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('actions')
    .addColumn('uid', 'text', (column) => column.primaryKey())
    .addColumn('database_uid', 'integer', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('goal', 'text', (column) => column.notNull())
    .addColumn('progress', 'integer', (column) => column.notNull())
    .addColumn('step', 'text', (column) => column.notNull())
    .addColumn('waiting_for', 'text', (column) => column.notNull())
    .addColumn('needs_person', 'integer', (column) => column.notNull())
    .addColumn('pending', 'text', (column) => column.notNull())
    .addColumn('error', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('changed_at', 'text', (column) => column.notNull())
    .execute()
  // The store enforces one active change per database.
  await sql`create unique index one_active_action on actions (database_uid) where status in ('queued', 'running')`.execute(
    db,
  )
  await db.schema
    .createTable('handovers')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('database_uid', 'integer', (column) => column.notNull())
    .addColumn('action_uid', 'text')
    .addColumn('from_shard', 'integer', (column) => column.notNull())
    .addColumn('to_shard', 'integer', (column) => column.notNull())
    .addColumn('full_syncs_before', 'text', (column) => column.notNull())
    .addColumn('intended_at', 'text', (column) => column.notNull())
    .addColumn('released', 'integer', (column) => column.notNull())
    .addColumn('certificate', 'text')
    .addColumn('closed', 'integer', (column) => column.notNull())
    .execute()
  await sql`create unique index one_open_handover on handovers (database_uid) where closed = 0`.execute(db)
}
