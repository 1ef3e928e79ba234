import { Type } from 'typebox'
import { closed, optional } from '../contract/closed.ts'
import { ErrorObstacle } from '../contract/error-obstacle.ts'
import { flag } from '../contract/fields-query.ts'
import { sourceOfWriteStop } from '../contract/handover-words.ts'
import { operation } from '../contract/operation.ts'
import { Database, DatabaseModule, DatabaseUid, EngineVersion, ModuleArgs } from './databases.ts'

const moduleEntryFields = {
  ...optional({
    current_module: Type.Union([Type.String(), Type.Integer()], {
      description: 'Uid of the module to upgrade',
    }),
    new_module: Type.String({
      description: 'Uid of the module to upgrade to; absent: its newest allowed version',
    }),
    new_module_args: Type.Union(ModuleArgs.anyOf, { description: 'Absent: as they are; empty: none' }),
    module_name: Type.String({ description: 'In place of current_module' }),
    current_semantic_version: Type.String({
      description: 'With module_name: refused when the database has another version',
    }),
  }),
} as const

/** Specification §2.4, with the other keys of its samples. */
export const ModuleEntry = closed(moduleEntryFields)

/** Specification §2.3, with the stray `swap_roles` of its sample and the vendor's spellings. */
export const DatabaseUpgradeRequest = closed(
  optional({
    force_restart: Type.Boolean({ default: false, description: 'Restart shards even if no version change' }),
    keep_engine_version: Type.Boolean({ default: false, description: 'Keep the current engine version' }),
    keep_redis_version: Type.Boolean({ description: 'Alias of keep_engine_version' }),
    keep_crdt_protocol_version: Type.Boolean({
      default: false,
      description: 'Active-Active databases only; no effect on others',
    }),
    may_discard_data: Type.Boolean({
      default: false,
      description:
        'Discard the data of a database that is neither replicated nor persistent: it restarts empty, the quick way. No effect on any other. Without it, a surge shard carries the data over',
    }),
    force_discard: Type.Boolean({
      default: false,
      description: 'Discard data even if the database is replicated and/or persistent',
    }),
    preserve_roles: Type.Boolean({
      default: false,
      description: 'Preserve the roles of shards (one more handover)',
    }),
    swap_roles: Type.Boolean({ description: 'Names the default: roles may end swapped' }),
    parallel_shards_upgrade: Type.Integer({
      minimum: 0,
      maximum: 512,
      description:
        'Maximum number of shards that are started, synced or restarted at once, over all groups; 0 or absent: one in each group',
    }),
    canary: Type.Boolean({
      default: true,
      description: 'Ours: the other groups of a sharded database begin after the first has handed over',
    }),
    supervised: Type.Boolean({
      default: false,
      description:
        'Ours: stop before the first handover, when the group that goes first is ready; resume goes on',
    }),
    rollback_window: Type.Union(
      [Type.Integer({ minimum: 0, maximum: 2_592_000 }), Type.Literal('until_finalized')],
      {
        default: 0,
        description:
          'Ours: how long the old primaries stay as live standbys after the last handover, in seconds, or until a user finalizes. Until then the upgrade can be rolled back without loss',
      },
    ),
    modules: Type.Array(ModuleEntry, { maxItems: 64 }),
    engine_version: EngineVersion,
    redis_version: EngineVersion,
    latest_with_modules: Type.Boolean({ description: 'Latest engine and latest supported modules' }),
  }),
)

const moduleObstacles = [
  'missing_module',
  'module_downgrade_unsupported',
  'engine_incompatible_version',
  'engine_pack_incompatible_version',
  'unsupported_module_capabilities',
] as const

/** The time during which a group could go back without loss. */
export const PlannedWayBack = Type.Object(
  {
    until: Type.Enum(['never', 'handover', 'time', 'finalized'], {
      description:
        'never: not after its handover. handover: until the last group has handed over. time: for `seconds` after that. finalized: until a user finalizes. Before its handover a group can always go back',
    }),
    seconds: Type.Union([Type.Integer(), Type.Null()]),
    loss: Type.Union([Type.Literal('none'), Type.Null()], {
      description: 'none: what was written after the handover is kept. null: there is no way back',
    }),
    why: Type.String(),
  },
  { description: 'How long it could be taken back without loss' },
)

/** The duration of a plan. */
export const PlannedDuration = Type.Object(
  {
    ms: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The sum of its parts; null: one of them is not known, or there is nothing to do',
    }),
    parts: Type.Array(
      Type.Object({
        part: Type.Enum(['start', 'restart', 'copy', 'load', 'handover']),
        count: Type.Integer(),
        bytes: Type.Union([Type.Integer(), Type.Null()]),
        ms: Type.Union([Type.Integer(), Type.Null()], { description: 'null: not known' }),
        based_on: Type.Union([Type.Literal('trial'), Type.Literal('measurements'), Type.Null()], {
          description:
            'trial: the start of the target just now. measurements: of Fairlead, on another machine: 100 MB a second for a full sync or for loading from disk, and write_stop_ms. null: not known',
        }),
      }),
    ),
    not_counted: Type.Array(Type.String(), { description: 'What comes on top' }),
  },
  {
    description:
      'A prediction, as if one thing were done after the other. Groups that go on at once take less',
  },
)

/** The smallest number of processes with the data. */
export const RedundancyMin = Type.Integer({
  description: 'The smallest number of processes that hold the data at any time of it; 0: only the disk does',
})

/** Effects and needs of an upgrade. Bytes. */
export const UpgradePlan = Type.Object({
  engine: Type.String(),
  engine_version: Type.String(),
  suite: Type.Optional(Type.String({ description: 'The suite of Debian that the build was fetched from' })),
  modules: Type.Array(Type.Object({ module_name: Type.String(), semantic_version: Type.String() })),
  basis: Type.String({
    description:
      'A digest over what the plan depends on: the request, the settings, shards and modules of the database, the builds on the nodes, and whether there is room. Sent in If-Match with the same request, an upgrade is begun only while it still is this one',
  }),
  change: Type.Boolean({ description: 'Whether there is anything to do' }),
  possible: Type.Boolean({ description: 'Whether it would be begun now, and its target starts' }),
  obstacles: Type.Array(ErrorObstacle, {
    description: 'Why it would be refused now, while another action runs on the database',
  }),
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
  permission: 'update_bdb_with_action',
  params: Type.Object({ uid: DatabaseUid }),
  query: closed({
    dry_run: flag('Change nothing: answer with the database as it would be, and the plan'),
  }),
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
export const ModuleUpgradeRequest = closed({
  modules: Type.Optional(Type.Array(ModuleEntry, { minItems: 1, maxItems: 64 })),
  ...moduleEntryFields,
  ...optional({
    preserve_roles: Type.Boolean({
      default: false,
      description: 'Preserve the roles of shards (one more handover)',
    }),
    may_discard_data: Type.Boolean({
      default: false,
      description: 'Discard the data of a database that is neither replicated nor persistent',
    }),
    force_restart: Type.Boolean({ default: false, description: 'Restart shards even if no module changes' }),
  }),
})

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
