import { type Kysely, sql } from 'kysely'

/** Adds roles, several passwords and logins per user, revocation of tokens, settings and the audit. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createRoles(db)
  await createPasswords(db)
  await widenUsers(db)
  await createSigningKeys(db)
  await db.schema
    .createTable('revoked_tokens')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_uid', 'integer', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('settings')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute()
  // A cluster with users was created together with its first user.
  await sql`insert into settings (name, value)
    select 'createdAt', '"' || min(created_at) || '"' from users having count(*) > 0`.execute(db)
  await db.schema
    .createTable('audit')
    .addColumn('seq', 'integer', (column) => column.primaryKey())
    .addColumn('at', 'text', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('user_uid', 'integer')
    .addColumn('originator', 'text', (column) => column.notNull())
    .addColumn('address', 'text')
    .addColumn('database_uid', 'integer')
    .addColumn('details', 'text', (column) => column.notNull())
    .addColumn('previous', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .execute()
  await sql`create index audit_by_time on audit (at)`.execute(db)
}

/** Built-in roles: 1 to 6 as in the wider API, then the one without a number. */
const builtIn = [
  ['Admin', 'admin'],
  ['Cluster Member', 'cluster_member'],
  ['Cluster Viewer', 'cluster_viewer'],
  ['DB Member', 'db_member'],
  ['DB Viewer', 'db_viewer'],
  ['None', 'none'],
  ['User Manager', 'user_manager'],
] as const

async function createRoles(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('roles')
    .addColumn('uid', 'integer', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('management', 'text', (column) => column.notNull())
    .addColumn('databases', 'text', (column) => column.notNull())
    .execute()
  for (const [n, [name, management]] of builtIn.entries()) {
    await sql`insert into roles (uid, name, management, databases)
      values (${n + 1}, ${name}, ${management}, '[]')`.execute(db)
  }
  await sql`insert into counters (name, value) values ('role', ${builtIn.length})`.execute(db)
  await db.schema
    .createTable('user_roles')
    .addColumn('user_uid', 'integer', (column) => column.notNull())
    .addColumn('role_uid', 'integer', (column) => column.notNull().references('roles.uid'))
    .addPrimaryKeyConstraint('a_role_once', ['user_uid', 'role_uid'])
    .execute()
  await sql`insert into user_roles (user_uid, role_uid)
    select users.uid, roles.uid from users join roles on roles.management = users.role`.execute(db)
}

async function createPasswords(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('passwords')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('user_uid', 'integer', (column) => column.notNull())
    .addColumn('phc', 'text', (column) => column.notNull())
    .addColumn('issued_at', 'text', (column) => column.notNull())
    .execute()
  await sql`create index passwords_by_user on passwords (user_uid)`.execute(db)
  await sql`insert into passwords (id, user_uid, phc, issued_at)
    select uid, uid, password_hash, changed_at from users`.execute(db)
  await sql`insert into counters (name, value)
    select 'password', max(uid) from users having count(*) > 0`.execute(db)
}

async function widenUsers(db: Kysely<unknown>): Promise<void> {
  // The store enforces that a login (name or e-mail) belongs to one user.
  await db.schema
    .createTable('logins')
    .addColumn('login', 'text', (column) => column.primaryKey())
    .addColumn('user_uid', 'integer', (column) => column.notNull())
    .execute()
  await sql`insert into logins (login, user_uid) select lower(name), uid from users`.execute(db)
  await db.schema.alterTable('users').addColumn('email', 'text').execute()
  await db.schema
    .alterTable('users')
    .addColumn('disabled', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema
    .alterTable('users')
    .addColumn('token_epoch', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema
    .alterTable('users')
    .addColumn('failures', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  for (const name of ['failed_at', 'locked_until', 'last_login_at']) {
    await db.schema.alterTable('users').addColumn(name, 'text').execute()
  }
  for (const name of ['role', 'password_hash']) {
    await db.schema.alterTable('users').dropColumn(name).execute()
  }
}

/** Keys are sealed from now on: `private_jwk` is output of secret-box. The existing key signs. */
async function createSigningKeys(db: Kysely<unknown>): Promise<void> {
  for (const name of ['active_at', 'retired_at']) {
    await db.schema.alterTable('signing_keys').addColumn(name, 'text').execute()
  }
  await sql`update signing_keys set active_at = created_at`.execute(db)
}
