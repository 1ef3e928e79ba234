import { type Static, Type } from 'typebox'
import { BackupName } from '../contract/backup-name.ts'
import { closed, optional } from '../contract/closed.ts'
import { fieldsQuery } from '../contract/fields-query.ts'
import { fixedDatabaseFields, schemasOf } from '../contract/fixed-fields.ts'
import { neutralCreationFields } from '../contract/neutral-fields.ts'
import { operation } from '../contract/operation.ts'
import { cursorQuery, PageQuery, searchQuery, sortQuery } from '../contract/page.ts'
import { persistenceWords } from '../contract/persistence-words.ts'
import { safeDefaults } from '../contract/safe-defaults.ts'
import { AclUid } from './identity/acls.ts'
import { RoleUid } from './identity/roles.ts'

/** Eviction at `maxmemory`: the engine's values of `maxmemory-policy`. */
export const EvictionPolicy = Type.Enum([
  'noeviction',
  'allkeys-lru',
  'allkeys-lfu',
  'allkeys-random',
  'volatile-lru',
  'volatile-lfu',
  'volatile-random',
  'volatile-ttl',
])
/** Data on disk: none, each write in an append-only file, or snapshots. */
export const DataPersistence = Type.Enum(['disabled', 'aof', 'snapshot'], {
  description: `aof: each write, as aof_policy says. snapshot: ${persistenceWords.snapshot}. disabled: ${persistenceWords.disabled}`,
})
const aofPolicies = ['appendfsync-every-sec', 'appendfsync-always'] as const
const aofPolicyWords = {
  description: aofPolicies.map((policy) => `${policy}: ${persistenceWords[policy]}`).join('. '),
}
/** When an append-only file is on the disk: after each write, or within a second. */
export const AofPolicy = Type.Enum([...aofPolicies], aofPolicyWords)
/** When snapshots are written: after this time with at least this many writes. */
export const SnapshotPolicy = Type.Array(
  closed({
    secs: Type.Integer({ minimum: 1, maximum: 604_800 }),
    writes: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
  }),
  { maxItems: 8 },
)
/** "8.1", "8.1.1", "valkey-8.1": see core/requests/resolve-build.ts of the server. */
export const EngineVersion = Type.String({
  pattern: '^([a-z]+-)?[0-9]+(\\.[0-9]+){0,2}$',
  maxLength: 40,
  description: 'A version like "8.1", "8.1.1" or "valkey-8.1"; the newest when absent',
})
/** Identifies a database, in paths and bodies. */
export const DatabaseUid = Type.Integer({
  minimum: 1,
  maximum: 2_147_483_647,
  description: 'Identifier of the database',
})

/** The state of a database. */
export const DatabaseStatus = Type.Enum([
  'pending',
  'active',
  'active-change-pending',
  'delete-pending',
  'creation-failed',
  'recovery',
])

/** An address of a database. Before the endpoint process exists, one per primary, in the order of slots. */
export const Endpoint = Type.Object({
  uid: Type.String(),
  dns_name: Type.String(),
  port: Type.Integer(),
  addr: Type.Array(Type.String()),
  addr_type: Type.Enum(['internal', 'external']),
})

/** Arguments in one line, split at spaces like the engines do, or as a list. */
export const ModuleArgs = Type.Union([
  Type.String({ maxLength: 4096 }),
  Type.Array(Type.String({ maxLength: 4096 }), { maxItems: 256 }),
])

/** A module of a database. */
export const DatabaseModule = Type.Object({
  module_id: Type.String({ description: 'Uid in the catalogue' }),
  module_name: Type.String(),
  semantic_version: Type.String(),
  module_args: Type.Optional(
    Type.String({
      description: 'They may contain secrets: not in lists, and shown only to users with view_redis_pass',
    }),
  ),
})

const EngineBuild = { engine: Type.String(), engine_version: Type.String() }

/** If the database's own user may sign in. */
export const DefaultUser = Type.Boolean({
  description:
    'If the user default, with the password of the database, may sign in. Its connections stay when it is switched off',
})
/** Roles whose users sign in to a database, each under a rule. */
export const RolesPermissions = Type.Array(closed({ role_uid: RoleUid, redis_acl_uid: AclUid }), {
  maxItems: 100,
  description:
    'Users with one of these roles sign in to the database with their name and password of the cluster, and may do what the rule says',
})

/** Specification §2.6, plus true fields of the wider API. Never a field that we do not honour. */
export const Database = Type.Object({
  uid: DatabaseUid,
  name: Type.String(),
  type: Type.Literal('redis', { description: 'The protocol spoken: RESP' }),
  status: DatabaseStatus,
  status_reason: Type.String({
    description: 'What only a person can remove, with `status` recovery or a running action; empty otherwise',
  }),
  engine: Type.String({
    description:
      'Flavour of the engine that clients have: valkey, redis, …; of on_record while primaries have different ones',
  }),
  engine_version: Type.String({ description: 'Full version of the same' }),
  version: Type.String({ description: 'The same as engine_version' }),
  redis_version: Type.String({ description: 'Major and minor version of the engine, whichever it is' }),
  serving: Type.Array(Type.Object({ ...EngineBuild, primaries: Type.Integer() }), {
    description:
      'Engines of the primaries, as clients have them, and how many primaries: one entry, or several while groups are upgraded. Empty until a primary serves',
  }),
  on_record: Type.Object(EngineBuild, {
    description:
      'The engine to which an upgrade that is not finalized can be rolled back; the serving one at other times',
  }),
  memory_size: Type.Integer({
    description:
      'Memory for the clients of all primaries together in bytes; 0 is unlimited. What replication takes comes on top, and replicas have as much again',
  }),
  replication: Type.Boolean(),
  sharding: Type.Boolean(),
  shards_count: Type.Integer(),
  shard_list: Type.Array(Type.Integer()),
  data_persistence: DataPersistence,
  aof_policy: AofPolicy,
  snapshot_policy: SnapshotPolicy,
  eviction_policy: EvictionPolicy,
  module_list: Type.Array(DatabaseModule),
  endpoints: Type.Array(Endpoint),
  port: Type.Integer({ description: 'Port of the first endpoint; 0 while there is none' }),
  oss_cluster: Type.Boolean(),
  tls_mode: Type.Enum(['enabled', 'disabled'], { description: 'enabled: clients speak TLS to the endpoint' }),
  ssl: Type.Boolean({ description: 'The older word: true where tls_mode is enabled' }),
  former_access: Type.Optional(
    Type.Array(
      Type.Object({
        port: Type.Optional(Type.Integer()),
        tls_mode: Type.Optional(Type.Enum(['enabled', 'disabled'])),
        ssl: Type.Optional(Type.Boolean()),
        name: Type.Optional(Type.String({ description: 'A name for clients that ask the Sentinel' })),
        password: Type.Optional(Type.Literal(true, { description: 'A former password' })),
        valid_until: Type.String(),
      }),
      {
        description:
          'How clients reached the database before changes, as far as it is still valid. A port ends earlier when it has had no client for an hour',
      },
    ),
  ),
  crdt: Type.Boolean(),
  crdt_guid: Type.String(),
  authentication_engine_pass: Type.Optional(
    Type.String({
      description:
        'Password of the database user `default`; shown only to users with view_redis_pass, and only by GET, POST and PUT of one database. See also GET /v1/bdbs/{uid}/credentials',
    }),
  ),
  authentication_redis_pass: Type.Optional(
    Type.String({ description: 'The same as authentication_engine_pass' }),
  ),
  default_user: DefaultUser,
  roles_permissions: RolesPermissions,
  action_uid: Type.Optional(Type.String({ description: 'The action that runs on the database now' })),
  rollback_window: Type.Optional(
    Type.String({
      description:
        'While nothing changes and the old primaries stay as standbys: when they are given up, or until_finalized. The status is active-change-pending as long',
    }),
  ),
  background_op: Type.Array(
    Type.Object({
      status: Type.Enum(['idle', 'active'], { description: 'idle: no action runs' }),
      name: Type.Optional(Type.String()),
      progress: Type.Optional(Type.Number()),
    }),
    { description: 'The older word for the action that runs; always one entry' },
  ),
  upgradable_to: Type.Optional(
    Type.Union([Type.Object(EngineBuild), Type.Null()], {
      description:
        'Of GET: the build that upgrade_targets recommends: of all flavours, those without known holes that let clients run code or end the engine before others; null: none is better than what it runs. What is in the way only now does not count. Absent while the builds of the nodes are not known',
    }),
  ),
  created_time: Type.String(),
  last_changed_time: Type.String(),
  ...schemasOf(fixedDatabaseFields),
})
export type Database = Static<typeof Database>

/** Password of a new database's user `default`. */
const DatabasePassword = Type.String({
  minLength: 8,
  maxLength: 256,
  pattern: '^[\\x21-\\x7e]+$',
  description: '8 to 256 printable ASCII characters without spaces; generated when absent',
})

/** Another password of an existing one. */
export const OtherPassword = Type.String({
  pattern: '^([\\x21-\\x7e]{8,256})?$',
  description:
    '8 to 256 printable ASCII characters without spaces; empty: as it is. All shards take it when the answer comes; the former one stays valid, too',
})

/** Name of a database. */
export const DatabaseName = Type.String({
  pattern: '^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$',
  maxLength: 63,
  description: 'At most 63 letters, digits, - and _, of which the first and the last are a letter or a digit',
})

const CreateDatabaseRequest = closed({
  name: DatabaseName,
  memory_size: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      'Memory for the clients of all primaries together in bytes; 0 is unlimited. What replication takes comes on top, and replicas have as much again. Refused if the node has not enough memory besides that of other databases',
  }),
  ...optional({
    engine_version: EngineVersion,
    replication: Type.Boolean({ default: safeDefaults.replication }),
    data_persistence: Type.Enum(['disabled', 'aof', 'snapshot'], { default: safeDefaults.data_persistence }),
    aof_policy: Type.Enum([...aofPolicies], { ...aofPolicyWords, default: safeDefaults.aof_policy }),
    snapshot_policy: SnapshotPolicy,
    eviction_policy: EvictionPolicy,
    authentication_engine_pass: DatabasePassword,
    authentication_redis_pass: Type.String({
      ...DatabasePassword,
      description:
        '8 to 256 printable ASCII characters without spaces. Another word for authentication_engine_pass',
    }),
    redis_version: Type.String({
      ...EngineVersion,
      description:
        'A version like "8.0" or "redis-8.0". Another word for engine_version; without a flavour it is redis, if a sound build of redis fits',
    }),
    version: Type.String({
      ...EngineVersion,
      description: 'A version like "8.1", "8.1.1" or "valkey-8.1". Another word for engine_version',
    }),
    port: Type.Integer({ minimum: 0, maximum: 65_535, description: '0: chosen by Fairlead' }),
    sharding: Type.Boolean({
      description: 'Cluster mode. True when shards_count is above 1 and this is absent',
    }),
    shards_count: Type.Integer({
      minimum: 1,
      maximum: 64,
      default: 1,
      description: 'Primaries, each with a range of slots',
    }),
    oss_cluster: Type.Boolean({
      default: false,
      description:
        'Of a sharded database: clients speak the cluster protocol to its shards. Without it they do not see the shards: the endpoint routes their requests',
    }),
    tls_mode: Type.Enum(['enabled', 'disabled', 'replica_ssl'], {
      default: 'disabled',
      description:
        'enabled: clients speak TLS to the endpoint, and nothing else. replica_ssl is understood and not available',
    }),
    ssl: Type.Boolean({ description: 'The older word: true is tls_mode enabled; false says nothing' }),
    module_list: Type.Array(
      closed({
        module_name: Type.Optional(Type.String({ description: 'This, or module_id' })),
        module_id: Type.Optional(Type.String({ description: 'Uid in the catalogue' })),
        semantic_version: Type.Optional(
          Type.String({ description: 'The newest that the engine allows, when absent' }),
        ),
        module_args: Type.Optional(ModuleArgs),
      }),
      { maxItems: 16, description: 'Modules can be added at creation only' },
    ),
    default_user: DefaultUser,
    roles_permissions: RolesPermissions,
    from_backup: Type.String({
      ...BackupName,
      description:
        'Name of a backup: the database begins with its data, and serves when all are loaded. Fields that are absent are then as in the database of the backup: engine, replication, persistence, sharding, modules, …. shards_count cannot be another',
    }),
    type: Type.Enum(['redis', 'memcached'], {
      description: 'redis: the engine redis, if no other is named and a sound build of it fits',
    }),
  }),
})

/** POST /v1/bdbs: answers when the database is recorded; its shards start afterwards. */
export const createDatabase = operation({
  method: 'POST',
  path: '/v1/bdbs',
  summary: 'Create a database',
  permission: 'create_bdb',
  body: CreateDatabaseRequest,
  neutral: neutralCreationFields,
  ok: Database,
  errors: [
    'name_already_exists',
    'invalid_version',
    'insecure_version',
    'port_unavailable',
    'field_not_available',
    'conflicting_fields',
    'insufficient_resources',
    'memory_size_too_small',
    'missing_module',
    'engine_incompatible_version',
    'engine_pack_incompatible_version',
    'unsupported_module_capabilities',
    'role_not_exist',
    'acl_not_exist',
    'invalid_acl',
    'backup_not_exist',
    'backup_not_readable',
    'unavailable',
  ],
})

/** GET /v1/bdbs/:uid: refuses with `db_not_exist`. */
export const getDatabase = operation({
  method: 'GET',
  path: '/v1/bdbs/:uid',
  summary: 'Show a database',
  permission: 'view_bdb_info',
  params: Type.Object({ uid: DatabaseUid }),
  query: closed(fieldsQuery),
  selects: true,
  secret: true,
  ok: Database,
  errors: ['db_not_exist'],
})

/**
 * GET /v1/bdbs: databases that the caller may see, without secrets; by uid or `sort`. Pages count only
 * selected databases.
 */
export const listDatabases = operation({
  method: 'GET',
  path: '/v1/bdbs',
  summary: 'List the databases, by uid or by `sort`',
  permission: 'view_all_bdbs_info',
  query: closed({
    ...PageQuery.properties,
    ...cursorQuery,
    ...fieldsQuery,
    ...searchQuery('Only those whose name contains this, whatever its case; or whose uid is this number'),
    status: Type.Optional(DatabaseStatus),
    engine_version: Type.Optional(
      Type.String({ ...EngineVersion, description: 'Only those that run "8.1", "8.1.1" or "valkey-8.1"' }),
    ),
    ...sortQuery(['uid', 'name', 'memory_size', 'created_time', 'last_changed_time']),
  }),
  selects: true,
  paged: true,
  tagged: true,
  ok: Type.Array(Database),
})
