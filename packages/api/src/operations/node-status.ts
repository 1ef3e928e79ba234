import { Type } from 'typebox'
import { operation } from '../contract/operation.ts'

/** While it is down, numbers are the last known ones, or absent. */
const NodeStatus = Type.Object({
  hostname: Type.String({ description: 'The address of the node' }),
  node_status: Type.Enum(['active', 'down']),
  role: Type.Literal('master', { description: 'Fairlead has one node' }),
  cores: Type.Optional(Type.Integer()),
  total_memory: Type.Optional(Type.Integer({ description: 'Bytes that shards may use on this node' })),
  free_ram: Type.Optional(Type.Integer({ description: 'Bytes still free for shards' })),
  master_shards: Type.Optional(
    Type.Array(Type.Integer(), { description: 'Primaries, by the uids of their shards' }),
  ),
  slave_shards: Type.Optional(Type.Array(Type.Integer())),
  software_version: Type.String(),
})

const NodeCheck = Type.Object({
  node_uid: Type.String(),
  result: Type.Boolean({
    description: 'Nothing is wrong: the agent answers, the endpoints serve, all shards run',
  }),
  error: Type.Optional(Type.String({ description: 'The first thing that is wrong' })),
})

/** The path of an operation about one node. */
export const OfNode = Type.Object({
  uid: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Identifier of the node' }),
})

const Begun = Type.Object({ actions: Type.Array(Type.Never()) })

/** GET /v1/nodes/status: keyed by uid of the node, with the shards that the caller may see. */
export const listNodeStatuses = operation({
  method: 'GET',
  path: '/v1/nodes/status',
  summary: 'Show the status of each node, by its uid',
  permission: 'view_node_info',
  ok: Type.Record(Type.String(), NodeStatus),
})

/** GET /v1/nodes/:uid/status: refuses with `node_not_exist`. */
export const getNodeStatus = operation({
  method: 'GET',
  path: '/v1/nodes/:uid/status',
  summary: 'Show the status of a node',
  permission: 'view_node_info',
  params: OfNode,
  ok: NodeStatus,
  errors: ['node_not_exist'],
})

/** GET /v1/cluster/check: for programs before an upgrade. */
export const checkCluster = operation({
  method: 'GET',
  path: '/v1/cluster/check',
  summary: 'Check each node: its agent answers, its endpoints serve, its shards run',
  permission: 'view_all_nodes_checks',
  ok: Type.Object({ cluster_test_result: Type.Boolean(), nodes: Type.Array(NodeCheck) }),
})

/** GET /v1/nodes/:uid/check: refuses with `node_not_exist`. */
export const checkNode = operation({
  method: 'GET',
  path: '/v1/nodes/:uid/check',
  summary: 'Check a node',
  permission: 'view_node_check',
  params: OfNode,
  ok: NodeCheck,
  errors: ['node_not_exist'],
})

/** GET /v1/cluster/actions: for programs that check before an upgrade whether one runs. */
export const listClusterActions = operation({
  method: 'GET',
  path: '/v1/cluster/actions',
  summary: 'List the actions of the cluster itself: there are none. GET /v1/actions has those of databases',
  permission: 'view_status_of_cluster_action',
  ok: Begun,
})

/** GET /v1/nodes/actions: like `listClusterActions`. */
export const listNodesActions = operation({
  method: 'GET',
  path: '/v1/nodes/actions',
  summary: 'List the actions of nodes: there are none',
  permission: 'view_status_of_all_node_actions',
  ok: Begun,
})

/** GET /v1/nodes/:uid/actions: like `listClusterActions`; refuses with `node_not_exist`. */
export const listNodeActions = operation({
  method: 'GET',
  path: '/v1/nodes/:uid/actions',
  summary: 'List the actions of a node: there are none',
  permission: 'view_status_of_node_action',
  params: OfNode,
  ok: Begun,
  errors: ['node_not_exist'],
})

/** GET /v1/access: playbooks ask for the leading node. */
export const getAccess = operation({
  method: 'GET',
  path: '/v1/access',
  summary: 'Name the node that leads the cluster: the only one',
  permission: 'view_cluster_info',
  ok: Type.Object({ master_node_addr: Type.String() }),
})
