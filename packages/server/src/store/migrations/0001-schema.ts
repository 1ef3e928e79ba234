import { type Kysely, sql } from 'kysely'

/**
 * Creates the schema, the built-in roles, and the buckets. SQLite knows `bigint` as integer; PostgreSQL's
 * integer ends at 2 GiB.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of tables) await sql.raw(`create table ${table}`).execute(db)
  for (const index of indexes) await sql.raw(`create ${index}`).execute(db)
  const roles = builtIn.map(([name, management], n) => `(${n + 1}, '${name}', '${management}', '[]')`)
  await sql.raw(`insert into roles (uid, name, management, databases) values ${roles.join()}`).execute(db)
  await sql`insert into counters (name, value) values ('role', ${builtIn.length})`.execute(db)
  const buckets = Array.from({ length: BUCKETS }, (_, bucket) => `(${bucket}, null, 0, 0)`)
  await sql
    .raw(`insert into buckets (bucket, holder, epoch, expires_at) values ${buckets.join()}`)
    .execute(db)
}

/** Buckets of databases, and one for the work of a single server. */
const BUCKETS = 257

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

const identity = [
  `users (
    uid integer primary key, name text not null unique, created_at text not null, changed_at text not null,
    email text, disabled integer not null default 0, token_epoch integer not null default 0,
    failures integer not null default 0, failed_at text, locked_until text, last_login_at text,
    alerts text not null default '{"email":true,"cluster":true,"databases":[]}')`,
  // A login (name or e-mail) belongs to one user.
  'logins (login text primary key, user_uid integer not null)',
  `passwords (
    id integer primary key, user_uid integer not null, phc text not null, issued_at text not null)`,
  `login_lanes (
    user_uid integer not null, source text not null, known integer not null, failures integer not null,
    failed_at text, locked_until text, used_at text not null,
    constraint one_lane_a_source primary key (user_uid, source))`,
  `roles (
    uid integer primary key, name text not null unique, management text not null, databases text not null)`,
  `user_roles (
    user_uid integer not null, role_uid integer not null references roles (uid),
    constraint a_role_once primary key (user_uid, role_uid))`,
  // private_jwk is output of secret-box.
  `signing_keys (
    kid text primary key, private_jwk text not null, created_at text not null, active_at text,
    retired_at text)`,
  'revoked_tokens (id text primary key, user_uid integer not null, expires_at text not null)',
  // id is the SHA-256 of the cookie, so a copy of the store opens no session.
  `sessions (
    id text primary key, user_uid integer not null, epoch integer not null, signed_in_at text not null,
    used_at text not null)`,
  `audit (
    seq integer primary key, at text not null, type text not null, user_uid integer,
    originator text not null, address text, database_uid integer, details text not null,
    previous text not null, hash text not null, event_seq integer)`,
]

const fleet = [
  `databases (
    uid integer primary key, name text not null unique, status text not null, flavour text not null,
    version text not null, restart_nonce integer not null, memory_bytes bigint not null,
    replicas integer not null, persistence text not null, aof_fsync text not null, snapshots text not null,
    eviction_policy text not null, admin_password text not null, user_password text not null,
    created_at text not null, changed_at text not null, cluster integer not null default 0,
    modules text not null default '[]', endpoint_port integer, oss_cluster integer not null default 0,
    tls integer not null default 0, obstacle text not null default '', shard_tls integer not null default 0,
    seq integer not null default 0)`,
  `groups (
    database_uid integer not null references databases (uid) on delete cascade, number integer not null,
    first_slot integer not null, last_slot integer not null, primary_shard integer, history_replid text,
    history_offset bigint, history_run_id text, history_before_replid text, history_before_until bigint,
    constraint one_group_a_number primary key (database_uid, number))`,
  `shards (
    id integer primary key, database_uid integer not null references databases (uid),
    node_uid integer not null, host text not null, port integer not null, flavour text not null,
    version text not null, restart_nonce integer not null, follows integer, leaving integer not null,
    created_at text not null, group_number integer not null default 0,
    reserved_bytes bigint not null default 0, modules text not null default '[]', tls_port integer,
    limit_before text, constraint one_shard_a_port unique (node_uid, port))`,
  `actions (
    uid text primary key, database_uid integer not null, kind text not null, status text not null,
    goal text not null, progress integer not null, step text not null, waiting_for text not null,
    needs_person integer not null, pending text not null, error text, created_at text not null,
    changed_at text not null, asked text not null default '',
    orders text not null default '{"paused":false,"proceed":false,"finalize":false}',
    way_back text not null default 'null', warnings text not null default '[]', handed_over_at text,
    hold_reason text, waiting text, ending text, request text, requested_by text, began_at text,
    ended_at text, phase text not null default 'preparing', handing_over integer not null default 0,
    traceparent text)`,
  `action_events (
    seq integer primary key, action_uid text not null, at text not null, type text not null,
    data text not null)`,
  `action_lanes (
    action_uid text not null, group_number integer not null, data text not null,
    constraint action_lanes_key primary key (action_uid, group_number))`,
  `handovers (
    id integer primary key, database_uid integer not null, action_uid text, from_shard integer not null,
    to_shard integer not null, full_syncs_before text not null, intended_at text not null,
    released integer not null, certificate text, closed integer not null,
    group_number integer not null default 0, standby text)`,
  'handover_tapes (handover_id integer primary key, data text not null)',
  `modules (
    uid text primary key, name text not null, semantic_version text not null, sha256 text not null,
    size_bytes bigint not null, manifest text not null, created_at text not null,
    constraint one_module_a_version unique (name, semantic_version))`,
  `module_actions (
    uid text primary key, kind text not null, module_uid text not null, created_at text not null)`,
]

const cluster = [
  'counters (name text primary key, value integer not null)',
  'settings (name text primary key, value text not null)',
  `tls_certificates (
    name text primary key, certificate text not null, private_key text not null, origin text not null,
    created_at text not null)`,
  'buckets (bucket integer primary key, holder text, epoch integer not null, expires_at bigint not null)',
  'servers (name text primary key, seen_at bigint not null)',
  // Numbered by the counter of action events, like audit.event_seq: a reader's position is one number.
  `changes (
    topic text not null, object_uid integer not null, seq integer not null, data text,
    constraint one_change_an_object primary key (topic, object_uid))`,
]

const tables = [...cluster, ...identity, ...fleet]

/** The unique ones are rules of the store; each other one serves a query, or a page in one order. */
const indexes = [
  "unique index one_active_action on actions (database_uid) where status in ('queued', 'running')",
  'unique index one_open_handover on handovers (database_uid, group_number) where closed = 0',
  'unique index one_database_a_port on databases (endpoint_port)',
  'index passwords_by_user on passwords (user_uid)',
  'index logins_by_user on logins (user_uid)',
  'index users_by_name on users (name, uid)',
  'index user_roles_by_role on user_roles (role_uid, user_uid)',
  'index sessions_by_use on sessions (used_at)',
  'index audit_by_time on audit (at)',
  'index audit_by_database on audit (database_uid, seq)',
  'index audit_by_event on audit (event_seq)',
  'index audit_by_type on audit (type, seq)',
  'index audit_by_originator on audit (originator, seq)',
  'index databases_seq on databases (seq)',
  'index databases_by_memory on databases (memory_bytes, replicas)',
  'index databases_by_size on databases (memory_bytes, uid)',
  'index databases_by_creation on databases (created_at, uid)',
  'index databases_by_change on databases (changed_at, uid)',
  'index databases_by_name on databases (name, uid)',
  'index databases_by_status on databases (status, uid)',
  'index databases_by_build on databases (flavour, version, uid)',
  'index shards_by_database on shards (database_uid, id)',
  'index shards_by_port on shards (port)',
  'index shards_by_tls_port on shards (tls_port)',
  'index shards_with_reservation on shards (reserved_bytes) where reserved_bytes > 0',
  'index actions_by_time on actions (created_at)',
  'index actions_by_database on actions (database_uid, created_at)',
  'index actions_by_end on actions (status, changed_at)',
  'index actions_by_status on actions (status, created_at, uid)',
  'index actions_by_creation on actions (created_at, uid)',
  'index actions_by_change on actions (changed_at, uid)',
  'index actions_by_phase on actions (phase, created_at, uid)',
  'index action_events_by_action on action_events (action_uid, seq)',
  'index handovers_by_action on handovers (action_uid)',
  'index handovers_by_database on handovers (database_uid, group_number, id)',
  'index module_actions_by_time on module_actions (created_at, uid)',
  'index changes_by_seq on changes (seq)',
]
