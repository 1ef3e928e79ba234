import { Type } from 'typebox'
import { closed } from '../contract/closed.ts'
import { flag } from '../contract/fields-query.ts'
import { neutralChangeFields } from '../contract/neutral-fields.ts'
import { operation } from '../contract/operation.ts'
import { changingFields, settledFields } from '../contract/settled-fields.ts'
import {
  AofPolicy,
  Database,
  DatabaseName,
  DatabaseUid,
  DataPersistence,
  DefaultUser,
  EvictionPolicy,
  OtherPassword,
  RolesPermissions,
  SnapshotPolicy,
} from './databases.ts'

/** Fields of a database that change automatically. */
export const changingDatabaseFields: readonly string[] = [
  ...['status', 'status_reason', 'background_op', 'action_uid', 'shard_list', 'endpoints'],
  ...['upgradable_to', 'last_changed_time', 'former_access'],
]
/** Fields that a change may have. */
export const changeableFields = [
  'memory_size',
  'eviction_policy',
  'replication',
  'data_persistence',
  'aof_policy',
  'snapshot_policy',
  'name',
  'port',
  'tls_mode',
  'former_valid_seconds',
  'authentication_engine_pass',
  'authentication_redis_pass',
  'default_user',
  'roles_permissions',
] as const
const changed: readonly string[] = [...changeableFields, ...changingDatabaseFields]
/** Fields that are fixed at creation. A program may send back their current values. */
const settled = {
  ...settledFields(Object.keys(Database.properties).filter((name) => !changed.includes(name))),
  ...changingFields(changingDatabaseFields),
}

/**
 * PUT /v1/bdbs/:uid: changes the sent fields. `replication` and `data_persistence` take an action, whose uid
 * is in the answer. With `dry_run`, answers with the result without applying it.
 */
export const updateDatabase = operation({
  method: 'PUT',
  path: '/v1/bdbs/:uid',
  summary:
    'Change a running database, without a restart. What starts or ends processes, or writes files, is an action: action_uid. The rest is in force within about a second. memory_size may be raised while an upgrade runs',
  permission: 'update_bdb',
  params: Type.Object({ uid: DatabaseUid }),
  query: closed({
    dry_run: flag('Change nothing: answer with the database as it would be'),
  }),
  body: closed({
    ...settled,
    memory_size: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'Memory for the clients of all primaries together in bytes; 0 is unlimited. Below what is used: only under a policy allkeys-…, which evicts then',
      }),
    ),
    eviction_policy: Type.Optional(EvictionPolicy),
    replication: Type.Optional(
      Type.Boolean({ description: 'One replica of each primary, or none: an action adds or retires them' }),
    ),
    data_persistence: Type.Optional(DataPersistence),
    aof_policy: Type.Optional(AofPolicy),
    snapshot_policy: Type.Optional(SnapshotPolicy),
    name: Type.Optional(DatabaseName),
    port: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 65_535,
        description:
          'Port of the endpoint. Clients of the former one stay connected, and may come there, while it is valid. 0: as it is',
      }),
    ),
    tls_mode: Type.Optional(
      Type.Enum(['enabled', 'disabled'], {
        description:
          'enabled: clients speak TLS to the endpoint. Its port serves both kinds of clients while the former one is valid',
      }),
    ),
    authentication_engine_pass: Type.Optional(OtherPassword),
    authentication_redis_pass: Type.Optional(OtherPassword),
    default_user: Type.Optional(DefaultUser),
    roles_permissions: Type.Optional(RolesPermissions),
    former_valid_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_592_000,
        description:
          'For how long the former port, tls_mode, name and password stay valid: a day when absent. Without one of these fields: from now on, for what was replaced before. 0 ends it, and closes the clients that came there, or signed in with it, over some seconds',
      }),
    ),
  }),
  neutral: neutralChangeFields,
  ok: Database,
  errors: [
    'db_not_exist',
    'db_busy',
    'field_not_available',
    'memory_size_too_small',
    'insufficient_resources',
    'name_already_exists',
    'port_unavailable',
    'unsupported_module_capabilities',
    'role_not_exist',
    'acl_not_exist',
    'invalid_acl',
    'unavailable',
  ],
})
