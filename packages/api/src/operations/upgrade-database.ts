import { Type } from 'typebox'
import { flag } from '../contract/flag.ts'
import { operation } from '../contract/operation.ts'
import { sourceOfWriteStop } from '../contract/plan-words.ts'
import { Database, DatabaseModule, DatabaseUid, EngineVersion, ModuleArgs } from './databases.ts'
import { PlannedDuration, PlannedWayBack, RedundancyMin } from './plans/planned.ts'

const moduleEntryFields = {
  current_module: Type.Optional(
    Type.Union([Type.String(), Type.Integer()], { description: 'Uid of the module to upgrade' }),
  ),
  new_module: Type.Optional(
    Type.String({ description: 'Uid of the module to upgrade to; absent: its newest allowed version' }),
  ),
  new_module_args: Type.Optional(
    Type.Union(ModuleArgs.anyOf, { description: 'Absent: as they are; empty: none' }),
  ),
  module_name: Type.Optional(Type.String({ description: 'In place of current_module' })),
  current_semantic_version: Type.Optional(
    Type.String({ description: 'With module_name: refused when the database has another version' }),
  ),
} as const

/** Specification §2.4, with the other keys of its samples. */
export const ModuleEntry = Type.Object(moduleEntryFields, { additionalProperties: false })

/** Specification §2.3, with the stray `swap_roles` of its sample and the vendor's spellings. */
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
    swap_roles: Type.Optional(Type.Boolean({ description: 'Names the default: roles may end swapped' })),
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
        description:
          'Ours: stop before the first handover, when the group that goes first is ready; resume goes on',
      }),
    ),
    rollback_window: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0, maximum: 2_592_000 }), Type.Literal('until_finalized')], {
        default: 0,
        description:
          'Ours: how long the old primaries stay as live standbys after the last handover, in seconds, or until a user finalizes. Until then the upgrade can be rolled back without loss',
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

const moduleObstacles = [
  'missing_module',
  'module_downgrade_unsupported',
  'engine_incompatible_version',
  'engine_pack_incompatible_version',
  'unsupported_module_capabilities',
] as const

/** Effects and needs of an upgrade. Bytes. */
export const UpgradePlan = Type.Object({
  engine: Type.String(),
  engine_version: Type.String(),
  modules: Type.Array(Type.Object({ module_name: Type.String(), semantic_version: Type.String() })),
  basis: Type.String({
    description:
      'A digest over what the plan depends on: the request, the settings, shards and modules of the database, the builds on the nodes, and whether there is room. Sent in If-Match with the same request, an upgrade is begun only while it still is this one',
  }),
  change: Type.Boolean({ description: 'Whether there is anything to do' }),
  lanes: Type.Array(
    Type.Object({
      group: Type.Integer(),
      steps: Type.Array(
        Type.Object({
          op_name: Type.String(),
          shard: Type.String({
            description:
              'Its uid; "new-1", "new-2", … for shards that are not there yet. Of a handover: "2 to new-1"',
          }),
          why: Type.String(),
        }),
      ),
      redundancy_min: RedundancyMin,
      way_back: PlannedWayBack,
    }),
    { description: 'The steps of each group in their order, if all goes as expected' },
  ),
  duration: PlannedDuration,
  redundancy_min: Type.Integer({ description: 'Of the group with the least' }),
  way_back: Type.Object({
    ...PlannedWayBack.properties,
    afterwards: Type.Object(
      { possible: Type.Boolean(), why: Type.String() },
      {
        description:
          'Whether another upgrade could lead back to the present build when the way back has ended',
      },
    ),
  }),
  handovers: Type.Integer(),
  write_stop_ms: Type.Object(
    { typical: Type.Number(), longest: Type.Number() },
    {
      description: `Milliseconds of one handover, ${sourceOfWriteStop} (two cores, one database under load). The certificate of the handover has the real value`,
    },
  ),
  outage_ms: Type.Integer({ description: 'How long the database would be away besides; 0: not at all' }),
  memory_needed: Type.Integer({ description: 'For surge shards, all at once' }),
  memory_free: Type.Integer(),
  disk_needed: Type.Integer(),
  disk_free: Type.Integer(),
  backlog: Type.Integer({
    description: 'The least that is kept for replicas that restart; raised with the write rate',
  }),
  trial: Type.Optional(
    Type.Object(
      { ok: Type.Boolean(), why: Type.String(), start_ms: Type.Integer() },
      {
        description:
          'The target build was really started as a shard of this database would be, and removed again',
      },
    ),
  ),
  risks: Type.Array(Type.String()),
  unproven: Type.Array(Type.String(), { description: 'What only the upgrade itself can show' }),
})

/** Specification §4.2. */
export const upgradeDatabase = operation({
  method: 'POST',
  path: '/v1/bdbs/:uid/upgrade',
  summary: 'Upgrade a database: engine version, modules, restart, roles',
  since: '0.1.0',
  permission: 'update_bdb_with_action',
  params: Type.Object({ uid: DatabaseUid }),
  query: Type.Object(
    {
      dry_run: flag('Change nothing: answer with the database as it would be, and the plan'),
    },
    { additionalProperties: false },
  ),
  body: DatabaseUpgradeRequest,
  planned: true,
  ok: Type.Object({ ...Database.properties, plan: Type.Optional(UpgradePlan) }),
  errors: [
    'db_not_exist',
    'db_busy',
    'invalid_version',
    'insecure_version',
    'engine_downgrade_unsupported',
    'conflicting_fields',
    ...moduleObstacles,
    'upgrade_path_unsupported',
    'upgrade_would_discard_data',
    'insufficient_resources',
    'target_does_not_start',
    'unavailable',
  ],
})

/** Specification §2.5. A single module may be named at the top level. */
export const ModuleUpgradeRequest = Type.Object(
  {
    modules: Type.Optional(Type.Array(ModuleEntry, { minItems: 1, maxItems: 64 })),
    ...moduleEntryFields,
    preserve_roles: Type.Optional(
      Type.Boolean({ default: false, description: 'Preserve the roles of shards (one more handover)' }),
    ),
    may_discard_data: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Discard the data of a database that is neither replicated nor persistent',
      }),
    ),
    force_restart: Type.Optional(
      Type.Boolean({ default: false, description: 'Restart shards even if no module changes' }),
    ),
  },
  { additionalProperties: false },
)

/** Specification §2.7: the first named module, and all of them. */
export const UpgradedModule = Type.Object({
  uid: DatabaseUid,
  name: Type.String({ description: 'Name of the database' }),
  ...DatabaseModule.properties,
  modules: Type.Array(DatabaseModule),
  action_uid: Type.Optional(
    Type.String({ description: 'The action that did it; completed at once when nothing was to be changed' }),
  ),
})

/** Shared by both paths of the module upgrade. */
const moduleUpgrade = {
  method: 'POST',
  since: '0.1.0',
  permission: 'edit_bdb_module',
  params: Type.Object({ uid: DatabaseUid }),
  body: ModuleUpgradeRequest,
  waits: true,
  ok: UpgradedModule,
  errors: [
    'db_not_exist',
    'db_busy',
    'conflicting_fields',
    ...moduleObstacles,
    'upgrade_would_discard_data',
    'insufficient_resources',
    'target_does_not_start',
    'upgrade_failed',
    'unavailable',
  ],
} as const

/** Specification §4.3. */
export const upgradeModules = operation({
  ...moduleUpgrade,
  path: '/v1/bdbs/:uid/modules/upgrade',
  summary: 'Upgrade modules of a database, and answer when that is done',
})

/** POST /v1/modules/upgrade/bdb/:uid: like `upgradeModules`, at the path of older clients. */
export const upgradeModulesOlder = operation({
  ...moduleUpgrade,
  path: '/v1/modules/upgrade/bdb/:uid',
  summary: 'Upgrade modules of a database: the older path of the same operation',
})
