import { type Static, Type } from 'typebox'
import { closed } from '../contract/closed.ts'
import { selectQuery } from '../contract/fields-query.ts'
import { operation } from '../contract/operation.ts'
import { cursorQuery, PageQuery, searchQuery, sortQuery } from '../contract/page.ts'

/** Known security holes of a build. */
export const KnownHoles = Type.Array(
  Type.Object({
    id: Type.String(),
    what: Type.String(),
    reach: Type.Enum(['code', 'crash', 'other'], {
      description:
        'What a client, or an attacker who reaches the port, can do: run code in the engine, end it, or something less',
    }),
  }),
  { description: 'Ours: by the table of this version of Fairlead, newest first' },
)

const EngineBuild = Type.Object({
  engine: Type.String({ description: 'Flavour: valkey, redis, redict' }),
  engine_version: Type.String({ description: 'Full version' }),
  source: Type.Enum(['path', 'folder'], {
    description: 'Found on PATH, or in the folder of unpacked builds',
  }),
  latest: Type.Boolean({ description: 'The newest of its flavour here' }),
  recommended: Type.Boolean({
    description:
      'Ours: what a new database runs whose request names no build: valkey, if there is one; the newest of those through whose known holes clients can do the least harm',
  }),
  package: Type.Optional(Type.String({ description: 'Version of its package, if known' })),
  suite: Type.Optional(Type.String({ description: 'Ours: the suite of Debian that it was fetched from' })),
  insecure: Type.Boolean({
    description:
      'Ours: through one of its known holes clients can run code in the engine. New databases do not run it unless unsound_engines_allowed of /v1/cluster says so',
  }),
  known_holes: KnownHoles,
})

/** GET /v1/engine_versions: the builds on the agent's node; `unavailable` while the agent does not answer. */
export const listEngineVersions = operation({
  method: 'GET',
  path: '/v1/engine_versions',
  summary: 'List the engine builds that can be started here',
  permission: 'view_cluster_info',
  ok: Type.Array(EngineBuild),
  errors: ['unavailable'],
})

/** An engine build, in the words of the wider API. */
export const SupportedVersion = Type.Object({
  db_type: Type.String({ description: 'Flavour: valkey, redis, redict' }),
  version: Type.String({ description: 'Full version' }),
  redis_version: Type.String({ description: 'Major and minor version, as an upgrade takes it' }),
})

const NodeStatus = Type.Enum(['active', 'down'])

/** A machine with an agent. While it is down, numbers are the last known ones, or absent. */
export const Node = Type.Object({
  uid: Type.Integer(),
  addr: Type.String(),
  external_addr: Type.Array(Type.String(), {
    description: 'Where clients of other machines reach endpoints',
  }),
  missing_addr: Type.Array(Type.String(), {
    description: 'Ours: addresses for endpoints (FAIRLEAD_ENDPOINT_ADDRESS) that the node does not have',
  }),
  accept_servers: Type.Boolean({ description: 'Shards can be started here' }),
  rack_id: Type.Literal(''),
  status: NodeStatus,
  cores: Type.Optional(Type.Integer()),
  total_memory: Type.Optional(Type.Integer({ description: 'Bytes that shards may use on this node' })),
  free_memory: Type.Optional(Type.Integer({ description: 'Bytes still free for shards' })),
  free_disk: Type.Optional(Type.Integer({ description: 'Bytes free where shards keep their data' })),
  engine_wall: Type.Boolean({
    description:
      'Ours: engines and modules are started within a wall, and see nothing of Fairlead outside of it',
  }),
  engine_wall_missing: Type.String({ description: 'Ours: why they are not; empty when they are' }),
  shard_count: Type.Optional(Type.Integer()),
  shard_list: Type.Optional(Type.Array(Type.Integer())),
  software_version: Type.String(),
  supported_database_versions: Type.Array(SupportedVersion),
})
export type Node = Static<typeof Node>

/** GET /v1/nodes: one entry per machine with an agent. */
export const listNodes = operation({
  method: 'GET',
  path: '/v1/nodes',
  summary: 'List the nodes, by uid or by `sort`',
  permission: 'view_all_nodes_info',
  query: closed({
    ...PageQuery.properties,
    ...cursorQuery,
    ...selectQuery,
    ...searchQuery('Only those whose address contains this, whatever its case; or whose uid is this number'),
    status: Type.Optional(NodeStatus),
    ...sortQuery(['uid', 'addr', 'free_memory', 'shard_count']),
  }),
  selects: true,
  paged: true,
  tagged: true,
  ok: Type.Array(Node),
})

/** GET /v1/nodes/:uid: like in `listNodes`; refuses with `node_not_exist`. */
export const getNode = operation({
  method: 'GET',
  path: '/v1/nodes/:uid',
  summary: 'Show a node',
  permission: 'view_node_info',
  params: Type.Object({
    uid: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Identifier of the node' }),
  }),
  ok: Node,
  errors: ['node_not_exist'],
})

/**
 * GET /healthz: for supervisors that restart hung servers. Ignores store and agent: a restart cannot help.
 */
export const getHealth = operation({
  method: 'GET',
  path: '/healthz',
  summary: 'Answers 200 as long as this server answers at all',
  permission: null,
  ok: Type.Object({ status: Type.Literal('ok') }),
})

/** GET /readyz: for load balancers, without a token; 503 `unavailable` names the missing part. */
export const getReadiness = operation({
  method: 'GET',
  path: '/readyz',
  summary:
    'Answers 200 when this server can serve: the store and the agent answer, and it is not stopping. 503 otherwise',
  permission: null,
  ok: Type.Object({ status: Type.Literal('ok') }),
  errors: ['unavailable'],
})

/** GET /openapi.json: the OpenAPI 3.1 document of all operations, from the tables that serve them. */
export const getOpenApi = operation({
  method: 'GET',
  path: '/openapi.json',
  summary: 'This document',
  permission: null,
  ok: Type.Unknown(),
})
