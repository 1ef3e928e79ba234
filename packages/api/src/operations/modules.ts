import { type Static, Type } from 'typebox'
import { operation } from '../contract/operation.ts'

/** Capabilities of modules. A database accepts a module only with all capabilities that the database uses. */
export const moduleCapabilities = [
  { name: 'types', desc: 'Has data types of its own' },
  { name: 'no_multi_key', desc: 'Has no command that touches several keys' },
  { name: 'replica_of', desc: 'Its data may be followed by a database elsewhere' },
  { name: 'backup_restore', desc: 'Its data may be exported, imported and backed up' },
  { name: 'eviction_expiry', desc: 'Its keys may expire, and be evicted when memory is short' },
  { name: 'reshard_rebalance', desc: 'Its keys may move from shard to shard' },
  { name: 'failover_migrate', desc: 'Its data are replicated, and another shard may take over' },
  { name: 'persistence_aof', desc: 'Its writes can be kept in an append-only file' },
  { name: 'persistence_rdb', desc: 'Its data can be kept in snapshots' },
  { name: 'hash_policy', desc: 'Its keys may be given to shards by rules of the user' },
  { name: 'flash', desc: 'Its values may lie on flash' },
  { name: 'bigstore_version_2', desc: 'Its values may lie on flash in the second format' },
  { name: 'crdb', desc: 'Its data types merge between active-active databases' },
  { name: 'clustering', desc: 'Works in a database of several groups' },
  { name: 'intershard_tls', desc: 'Its own traffic between shards may be encrypted' },
  { name: 'intershard_tls_pass', desc: 'The same, with a key that a password protects' },
  { name: 'ipv6', desc: 'Its own traffic between shards may go over IPv6' },
  { name: 'asm', desc: 'Its keys may move while the number of shards changes by itself' },
] as const

const ModuleUid = Type.String({ minLength: 1, maxLength: 64, description: '32 hexadecimal digits' })
const NullableString = Type.Union([Type.String(), Type.Null()])

/** A module of the catalogue. */
export const Module = Type.Object({
  uid: Type.String(),
  module_name: Type.String(),
  display_name: Type.String(),
  semantic_version: Type.String(),
  version: Type.Integer({ description: 'major × 10000 + minor × 100 + patch' }),
  capability_name: Type.String(),
  capabilities: Type.Array(Type.String()),
  command_line_args: Type.String({ description: 'Its arguments where a database names none' }),
  config_command: Type.String(),
  commands: Type.Array(
    Type.Object({
      command_name: Type.String(),
      command_arity: Type.Integer(),
      first_key: Type.Integer(),
      last_key: Type.Integer(),
      step: Type.Integer(),
      flags: Type.Array(Type.String()),
    }),
  ),
  min_redis_version: NullableString,
  min_engine_version: NullableString,
  compatible_redis_version: NullableString,
  compatible_engine_version: NullableString,
  min_redis_pack_version: NullableString,
  min_engine_pack_version: NullableString,
  author: Type.String(),
  email: Type.String(),
  description: Type.String(),
  homepage: Type.String(),
  license: Type.String(),
  dependencies: Type.Object({}, { description: 'None: a package that needs more than its file is refused' }),
  crdb: Type.Object({ supported_featureset_versions: Type.Optional(Type.Array(Type.Integer())) }),
  bigstore_version_2_support: Type.Boolean(),
  is_bundled: Type.Boolean(),
  module_file: Type.String(),
  sha256: Type.String({ description: 'Of the shared object' }),
  size_bytes: Type.Integer({ description: 'Of the shared object' }),
  self_test: Type.Array(
    Type.Object({
      command: Type.Array(Type.String()),
      reply: Type.Optional(Type.Unknown({ description: 'Without it: any answer that is no error' })),
    }),
    { description: 'Commands that prove that it works, not only loads' },
  ),
  uploaded_time: Type.String(),
})
export type Module = Static<typeof Module>

const UploadedModule = Type.Object({ ...Module.properties, action_uid: Type.String() })

/** GET /v1/modules: one entry per version of a module. */
export const listModules = operation({
  method: 'GET',
  path: '/v1/modules',
  summary: 'List the modules of the catalogue',
  permission: 'view_cluster_modules',
  ok: Type.Array(Module),
})

/** GET /v1/modules/:uid: refuses with `module_not_exist`. */
export const getModule = operation({
  method: 'GET',
  path: '/v1/modules/:uid',
  summary: 'Show a module',
  permission: 'view_cluster_modules',
  params: Type.Object({ uid: ModuleUid }),
  ok: Module,
  errors: ['module_not_exist'],
})

/** Shared by both forms of the upload. */
export const moduleUpload = {
  upload: { field: 'module', mediaType: 'application/zip', missing: 'no_module' },
  ok: UploadedModule,
  errors: [
    'no_module',
    'invalid_module',
    'module_exists',
    'os_not_supported',
    'dependencies_not_supported',
    'unavailable',
  ],
} as const

/** POST /v1/modules: a form with the package in the field `module`; answers when it is checked and stored. */
export const uploadModule = operation({
  ...moduleUpload,
  method: 'POST',
  path: '/v1/modules',
  summary: 'Add a module to the catalogue: a zip with module.json and the shared object that it names',
  permission: 'update_cluster',
})

/** POST /v2/modules: like `uploadModule`, with the uid of a completed action. */
export const uploadModuleV2 = operation({
  ...moduleUpload,
  method: 'POST',
  path: '/v2/modules',
  summary: 'Add a module to the catalogue. The action is complete when this answers',
  permission: 'update_cluster',
})

/** Shared by both forms of the deletion. */
export const moduleDeletion = {
  params: Type.Object({ uid: ModuleUid }),
  ok: Type.Object({ action_uid: Type.String() }),
  errors: ['module_not_exist', 'module_in_use'],
} as const

/** DELETE /v1/modules/:uid: refuses with `module_in_use` while a database has it. */
export const deleteModule = operation({
  ...moduleDeletion,
  method: 'DELETE',
  path: '/v1/modules/:uid',
  summary: 'Take a module that no database uses out of the catalogue',
  permission: 'update_cluster',
})

/** DELETE /v2/modules/:uid: like `deleteModule`, with the uid of a completed action. */
export const deleteModuleV2 = operation({
  ...moduleDeletion,
  method: 'DELETE',
  path: '/v2/modules/:uid',
  summary:
    'Take a module that no database uses out of the catalogue. The action is complete when this answers',
  permission: 'update_cluster',
})

/** GET /v1/cluster/module-capabilities: possible `capabilities` of a module, with their meaning. */
export const listModuleCapabilities = operation({
  method: 'GET',
  path: '/v1/cluster/module-capabilities',
  summary: 'List the capabilities that modules can declare',
  permission: 'view_cluster_modules',
  ok: Type.Object({
    all_capabilities: Type.Array(Type.Object({ name: Type.String(), desc: Type.String() })),
  }),
})
