import { expect } from 'vitest'
import { checksBeforeUpgrade } from './checks-before-upgrade.ts'
import { commands } from './commands.ts'
import type { Json, Replay } from './replay.ts'

const isActive = ({ status }: Json) => status === 'active'
const isCompleted = ({ status }: Json) => status === 'completed'
const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/)

/**
 * A playbook creates a database with every field that its template has, waits, looks, upgrades it and deletes
 * it.
 */
export const playbooks: readonly Replay[] = [
  {
    sends: ['GET', '/v1/nodes'],
    reads: [
      {
        uid: 1,
        status: 'active',
        addr: expect.any(String),
        total_memory: expect.any(Number),
        shard_count: 0,
        software_version: expect.any(String),
        supported_database_versions: expect.arrayContaining([
          { db_type: 'redis', version: expect.stringMatching(/^7\.0\./), redis_version: '7.0' },
        ]),
      },
    ],
  },
  { sends: ['GET', '/v1/bdbs?fields=uid,name'], reads: [] },
  {
    sends: [
      'POST',
      '/v1/bdbs',
      {
        name: 'playbook',
        type: 'redis',
        redis_version: '7.0',
        memory_size: 104_857_600,
        port: null,
        shards_count: 1,
        replication: true,
        sharding: false,
        data_persistence: 'disabled',
        aof_policy: 'appendfsync-every-sec',
        snapshot_policy: [],
        eviction_policy: 'volatile-lru',
        authentication_redis_pass: 'playbook-secret',
        oss_cluster: false,
        proxy_policy: 'single',
        shards_placement: 'dense',
        rack_aware: false,
        crdt: false,
        bigstore: false,
        ssl: false,
        tls_mode: 'disabled',
        backup: false,
        replica_sources: [],
        tags: [],
        module_list: [],
        slave_ha: false,
        oss_sharding: false,
        implicit_shard_key: false,
        data_internode_encryption: false,
        default_user: true,
        roles_permissions: [],
        max_connections: 0,
        version: null,
        shard_key_regex: [{ regex: '.*\\{(?<tag>.*)\\}.*' }, { regex: '(?<tag>.*)' }],
      },
    ],
    reads: {
      uid: expect.any(Number),
      name: 'playbook',
      type: 'redis',
      engine: 'redis',
      redis_version: '7.0',
      version: expect.stringMatching(/^7\.0\./),
      memory_size: 104_857_600,
      replication: true,
      authentication_redis_pass: 'playbook-secret',
      action_uid: uuid,
      roles_permissions: [],
    },
    keeps: { db: ({ uid }) => uid, made: ({ action_uid }) => action_uid },
  },
  {
    sends: ['POST', '/v1/bdbs', { name: 'playbook', memory_size: 104_857_600 }],
    status: 409,
    reads: { error_code: 'name_already_exists' },
  },
  {
    sends: ['GET', '/v1/actions/{made}'],
    until: isCompleted,
    reads: {
      action_uid: uuid,
      name: 'SMCreateBDB',
      progress: 100,
      object_name: expect.stringMatching(/^bdb:\d+$/),
    },
  },
  {
    sends: ['GET', '/v1/bdbs/{db}'],
    until: isActive,
    reads: {
      status: 'active',
      shard_list: [expect.any(Number), expect.any(Number)],
      endpoints: [
        {
          uid: expect.stringMatching(/^\d+:1$/),
          dns_name: expect.any(String),
          port: expect.any(Number),
          addr: [expect.any(String)],
          addr_type: expect.any(String),
        },
      ],
      created_time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    },
    keeps: { port: ({ port }) => port, shard: ({ shard_list }) => shard_list[0] },
  },
  { sends: ['GET', '/v1/bdbs'], reads: [{ name: 'playbook' }] },
  { sends: ['GET', '/v1/bdbs?fields=uid,name,status'], reads: [{ name: 'playbook', status: 'active' }] },
  {
    sends: ['GET', '/v1/bdbs/{db}?fields=endpoints,port'],
    reads: { endpoints: [{}], port: expect.any(Number) },
  },
  { sends: ['GET', '/v1/bdbs/{db}?extended=true'], reads: { status: 'active' } },
  { sends: ['GET', '/v1/bdbs/{db}/availability'], reads: {} },
  { sends: ['GET', '/v1/local/bdbs/{db}/endpoint/availability'], reads: {} },
  {
    sends: ['GET', '/v1/bdbs/{db}/shards'],
    reads: [
      {
        uid: expect.any(String),
        node_uid: '1',
        role: 'master',
        assigned_slots: expect.any(String),
        status: 'active',
        detailed_status: 'ok',
      },
      { role: 'slave' },
    ],
  },
  {
    sends: ['GET', '/v1/shards'],
    reads: [{ bdb_uid: expect.any(Number), role: 'master' }, { role: 'slave' }],
  },
  { sends: ['GET', '/v1/shards/{shard}'], reads: { uid: expect.any(String), role: expect.any(String) } },
  { sends: ['GET', '/v1/shards/999'], status: 404, reads: { error_code: 'shard_not_exist' } },
  ...commands,
  { sends: ['PUT', '/v1/bdbs/{db}', { memory_size: 209_715_200 }], reads: { memory_size: 209_715_200 } },
  {
    sends: [
      'PUT',
      '/v1/bdbs/{db}',
      { name: 'playbook', memory_size: 209_715_200, type: 'redis', shards_count: 1 },
    ],
    reads: { memory_size: 209_715_200 },
  },
  {
    sends: ['PUT', '/v1/bdbs/{db}', { eviction_policy: 'allkeys-lru' }],
    reads: { eviction_policy: 'allkeys-lru' },
  },
  {
    sends: ['PUT', '/v1/bdbs/{db}', { rack_aware: true }],
    status: 400,
    reads: { error_code: 'field_not_available', message: expect.stringContaining('rack_aware') },
  },
  {
    sends: ['PUT', '/v1/bdbs/{db}', { nonsense: 1 }],
    status: 400,
    reads: { error_code: 'invalid_request', message: expect.stringContaining('nonsense') },
  },
  { sends: ['GET', '/v1/bdbs/{db}'], until: isActive },
  ...checksBeforeUpgrade,
  {
    sends: ['POST', '/v1/bdbs/{db}/upgrade?dry_run=true', { redis_version: '8.0' }],
    reads: { plan: { change: true, engine: 'redis', engine_version: expect.stringMatching(/^8\.0/) } },
  },
  {
    sends: ['POST', '/v1/bdbs/{db}/upgrade', { redis_version: '99.9' }],
    status: 400,
    reads: { error_code: 'invalid_version' },
  },
  {
    sends: ['POST', '/v1/bdbs/{db}/upgrade', { keep_redis_version: true, force_restart: false }],
    reads: { uid: expect.any(Number), status: 'active', action_uid: uuid },
    keeps: { nothing: ({ action_uid }) => action_uid },
  },
  { sends: ['GET', '/v1/actions/{nothing}'], reads: { status: 'completed', progress: 100 } },
  {
    sends: [
      'POST',
      '/v1/bdbs/{db}/upgrade',
      {
        swap_roles: true,
        may_discard_data: true,
        force_restart: true,
        keep_redis_version: false,
        redis_version: '8.0',
        keep_crdt_protocol_version: false,
        preserve_roles: true,
        parallel_shards_upgrade: 2,
        latest_with_modules: false,
        force_discard: false,
        modules: [],
      },
    ],
    status: 400,
    reads: { error_code: 'conflicting_fields' },
  },
  {
    sends: [
      'POST',
      '/v1/bdbs/{db}/upgrade',
      {
        force_restart: true,
        redis_version: '8.0',
        keep_crdt_protocol_version: false,
        preserve_roles: true,
        parallel_shards_upgrade: 2,
      },
    ],
    reads: { uid: expect.any(Number), name: 'playbook', status: 'active-change-pending', action_uid: uuid },
    keeps: { upgrade: ({ action_uid }) => action_uid },
  },
  {
    sends: ['POST', '/v1/bdbs/{db}/upgrade', { redis_version: '8.0' }],
    status: 409,
    reads: { error_code: 'db_busy' },
  },
  { sends: ['DELETE', '/v1/bdbs/{db}'], status: 409, reads: { error_code: 'db_busy' } },
  {
    sends: ['GET', '/v1/actions/bdb/{db}'],
    reads: expect.arrayContaining([expect.objectContaining({ name: 'SMUpgradeBDB', action_uid: uuid })]),
  },
  {
    sends: ['GET', '/v1/actions'],
    reads: { actions: expect.any(Array), 'state-machines': expect.any(Array) },
  },
  {
    sends: ['GET', '/v2/actions/{upgrade}'],
    until: isCompleted,
    reads: {
      action_type: 'state-machine',
      name: 'SMUpgradeBDB',
      progress: 100,
      creation_time: expect.any(Number),
      additional_info: { object_type: 'bdb', pending_ops: {} },
    },
  },
  {
    sends: ['GET', '/v1/actions/{upgrade}'],
    reads: {
      status: 'completed',
      progress: 100,
      state: '',
      certificates: expect.any(Array),
      heartbeat: expect.any(Number),
    },
  },
  {
    sends: ['GET', '/v1/bdbs/{db}'],
    until: isActive,
    reads: {
      redis_version: '8.0',
      engine: 'redis',
      memory_size: 209_715_200,
      eviction_policy: 'allkeys-lru',
    },
  },
  {
    sends: ['POST', '/v1/bdbs/{db}/command', { command: 'GET greeting' }],
    reads: { response: 'hello world' },
  },
  {
    sends: ['POST', '/v1/bdbs/{db}/upgrade', { redis_version: '7.0' }],
    status: 400,
    reads: { error_code: 'engine_downgrade_unsupported' },
  },
  {
    sends: ['DELETE', '/v1/bdbs/{db}', {}],
    reads: { uid: expect.any(Number) },
    keeps: { gone: ({ action_uid }) => action_uid },
  },
  { sends: ['GET', '/v1/actions/{gone}'], until: isCompleted, reads: { name: 'SMDeleteBDB' } },
  { sends: ['GET', '/v1/bdbs/{db}'], status: 404, reads: { error_code: 'db_not_exist' } },
]
