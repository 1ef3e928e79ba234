import { type Kysely, sql } from 'kysely'

/** Rules for users of databases, the roles that sign in to each database, and digests of passwords. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  'create table acls (uid integer primary key, name text not null unique, acl text not null)',
  `insert into acls (uid, name, acl) values
    (1, 'Full Access', '+@all ~*'), (2, 'Read Only', '+@read ~*'), (3, 'Not Dangerous', '+@all -@dangerous ~*')`,
  "insert into counters (name, value) values ('acl', 3)",
  `create table roles_permissions (
    database_uid integer not null references databases (uid) on delete cascade,
    role_uid integer not null references roles (uid), acl_uid integer not null references acls (uid),
    primary key (database_uid, role_uid))`,
  'create index roles_permissions_by_role on roles_permissions (role_uid)',
  'create index roles_permissions_by_acl on roles_permissions (acl_uid)',
  'alter table databases add column default_user integer not null default 1',
  'alter table passwords add column password_sha256 text',
]
