import { type Static, Type } from 'typebox'
import { type ShardDuty, shardDuties } from '../contract/action-words.ts'
import { closed } from '../contract/closed.ts'
import { selectQuery } from '../contract/fields-query.ts'
import { operation } from '../contract/operation.ts'
import { cursorQuery, PageQuery, searchQuery } from '../contract/page.ts'
import { DatabaseUid, EngineVersion } from './databases.ts'

const ShardStatus = Type.Enum(['active', 'inactive'])

/** A shard in the form of the wider API, where uids of shards and nodes are strings. */
export const Shard = Type.Object({
  uid: Type.String(),
  bdb_uid: DatabaseUid,
  node_uid: Type.String(),
  role: Type.Enum(['master', 'slave']),
  assigned_slots: Type.String(),
  status: ShardStatus,
  /** `busy`: works and does not answer. `timeout`: idle and does not answer. */
  detailed_status: Type.Enum(['ok', 'busy', 'down', 'loading', 'timeout', 'unknown']),
  /** The reason and Fairlead's reaction (our addition); '' when the status is ok. */
  status_reason: Type.String(),
  engine: Type.String(),
  engine_version: Type.String(),
  port: Type.Integer(),
  group: Type.Integer({ description: 'The number of its group. Ours, as all that follows' }),
  started: Type.Union([Type.String(), Type.Null()], {
    description: 'When its process began (ISO 8601, UTC); null while there is none',
  }),
  duty: Type.Union([Type.Enum(Object.keys(shardDuties) as [ShardDuty, ...ShardDuty[]]), Type.Null()], {
    description:
      'What it is to its group just now. Null in `GET /v1/shards`, which asks no engines, and while the database cannot be looked at; the same of all that follows',
  }),
  link: Type.Union([Type.Enum(['up', 'down']), Type.Null()], {
    description: 'Of a replica: the connection to its primary. Null of a primary',
  }),
  offset: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Bytes of its replication stream. Null while its engine does not answer',
  }),
  lag_bytes: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Of a replica: how far it is behind its primary. Null while it has another history',
  }),
  used_memory: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Bytes in use, as its engine counts',
  }),
})
export type Shard = Static<typeof Shard>

/** GET /v1/bdbs/:uid/shards: the engine processes of a database, with roles and states. */
export const listDatabaseShards = operation({
  method: 'GET',
  path: '/v1/bdbs/:uid/shards',
  summary: 'List the shards of a database',
  permission: 'view_bdb_info',
  params: Type.Object({ uid: DatabaseUid }),
  query: closed(selectQuery),
  selects: true,
  tagged: true,
  ok: Type.Array(Shard),
  errors: ['db_not_exist'],
})

/** GET /v1/shards: those of databases that the caller may see; pages count databases. */
export const listShards = operation({
  method: 'GET',
  path: '/v1/shards',
  summary: 'List the shards of all databases',
  permission: 'view_all_bdbs_info',
  query: closed({
    ...PageQuery.properties,
    ...cursorQuery,
    ...selectQuery,
    ...searchQuery(
      'Only those of databases whose name contains this, whatever its case; or whose uid is this number',
    ),
    status: Type.Optional(ShardStatus),
    engine_version: Type.Optional(
      Type.String({ ...EngineVersion, description: 'Only those that run "8.1", "8.1.1" or "valkey-8.1"' }),
    ),
  }),
  selects: true,
  paged: true,
  tagged: true,
  ok: Type.Array(Shard),
})

/** GET /v1/shards/:uid: refuses with `shard_not_exist`, also for a hidden database. */
export const getShard = operation({
  method: 'GET',
  path: '/v1/shards/:uid',
  summary: 'Show a shard',
  permission: 'view_all_bdbs_info',
  params: Type.Object({
    uid: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Identifier of the shard' }),
  }),
  ok: Shard,
  errors: ['shard_not_exist'],
})
