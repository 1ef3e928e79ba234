import { Type } from 'typebox'
import { Database, DatabaseUid, EngineVersion } from './databases.ts'
import { operation } from './operation.ts'

const ModuleEntry = Type.Object(
  {
    current_module: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
    new_module: Type.Optional(Type.String()),
    new_module_args: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
    module_name: Type.Optional(Type.String()),
    current_semantic_version: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
)

/** Specification §2.3 with the stray `swap_roles` of its sample, and the vendor's spellings of the same fields. */
export const DatabaseUpgradeRequest = Type.Object(
  {
    force_restart: Type.Optional(
      Type.Boolean({ default: false, description: 'Restart shards even if no version change' }),
    ),
    keep_engine_version: Type.Optional(
      Type.Boolean({ default: false, description: 'Keep the current engine version' }),
    ),
    keep_redis_version: Type.Optional(Type.Boolean({ description: 'Alias of keep_engine_version' })),
    keep_crdt_protocol_version: Type.Optional(
      Type.Boolean({ default: false, description: 'Active-Active databases only; no effect on others' }),
    ),
    may_discard_data: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Discard the data of a database that is neither replicated nor persistent: it restarts empty, the quick way. No effect on any other. Without it, a surge shard carries the data over',
      }),
    ),
    force_discard: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Discard data even if the database is replicated and/or persistent',
      }),
    ),
    preserve_roles: Type.Optional(
      Type.Boolean({ default: false, description: 'Preserve the roles of shards (one more handover)' }),
    ),
    swap_roles: Type.Optional(Type.Boolean({ description: 'The default said aloud: roles may end swapped' })),
    parallel_shards_upgrade: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 512,
        description:
          'Maximum number of shards that are started, synced or restarted at once, over all groups; 0 or absent: one in each group',
      }),
    ),
    canary: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Ours: the other groups of a sharded database begin after the first has handed over',
      }),
    ),
    supervised: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Ours: stop when everything is ready, before the first handover; resume goes on',
      }),
    ),
    rollback_window: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0, maximum: 2_592_000 }), Type.Literal('until_finalized')], {
        default: 0,
        description:
          'Ours: how long the old primaries stay as live standbys after the last handover, in seconds, or until somebody finalizes. Until then the upgrade can be rolled back without loss',
      }),
    ),
    modules: Type.Optional(Type.Array(ModuleEntry, { maxItems: 64 })),
    engine_version: Type.Optional(EngineVersion),
    redis_version: Type.Optional(EngineVersion),
    latest_with_modules: Type.Optional(
      Type.Boolean({ description: 'Latest engine and latest supported modules' }),
    ),
  },
  { additionalProperties: false },
)

/** Specification §4.2. */
export const upgradeDatabase = operation({
  method: 'POST',
  path: '/v1/bdbs/:uid/upgrade',
  summary: 'Upgrade a database: engine version, restart, roles',
  since: '0.1.0',
  permission: 'update_bdb_with_action',
  params: Type.Object({ uid: DatabaseUid }),
  body: DatabaseUpgradeRequest,
  ok: Database,
  errors: [
    'db_not_exist',
    'db_busy',
    'invalid_version',
    'engine_downgrade_unsupported',
    'conflicting_fields',
    'field_not_available',
    'upgrade_path_unsupported',
    'upgrade_would_discard_data',
    'unavailable',
  ],
})
