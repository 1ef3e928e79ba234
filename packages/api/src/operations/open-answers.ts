import { Type } from 'typebox'
import { closed } from '../contract/closed.ts'
import { operation } from '../contract/operation.ts'
import type { Permission } from '../contract/permissions.ts'
import { DatabaseUid } from './databases.ts'
import { OfNode } from './node-status.ts'

/** Programs compute with both. Neither is reached: a node has fewer ports than that many shards. */
export const openLicense = { expiration_date: '2199-12-31T00:00:00Z', shards_limit: 1_000_000 } as const

/** GET /v1/license: programs check its end and its number of shards. */
export const getLicense = operation({
  method: 'GET',
  path: '/v1/license',
  summary: 'Fairlead is open: a license that never ends, without a limit',
  permission: 'view_license',
  ok: Type.Object({
    license: Type.Literal('Apache-2.0'),
    key: Type.Literal('', { description: 'There is none' }),
    expired: Type.Literal(false),
    activation_date: Type.String({ description: 'When the cluster was created' }),
    expiration_date: Type.Literal(openLicense.expiration_date, {
      description: 'Never: a date that every program can compute with',
    }),
    shards_limit: Type.Literal(openLicense.shards_limit, {
      description: 'None: more than a node has ports',
    }),
    ram_shards_limit: Type.Literal(openLicense.shards_limit, { description: 'The same' }),
    ram_shards_in_use: Type.Integer({ description: 'All shards, replicas too' }),
    flash_shards_limit: Type.Literal(0, { description: 'All data is in memory' }),
    flash_shards_in_use: Type.Literal(0),
    features: Type.Array(Type.Never()),
    owner: Type.String(),
    cluster_name: Type.String(),
  }),
})

/** A list of things that Fairlead does not have: programs read it before they do something else. */
function listNone<Path extends `/v1/${string}`>(path: Path, permission: Permission, what: string) {
  const summary = `List ${what}: there are none`
  return operation({ method: 'GET', path, summary, permission, ok: Type.Array(Type.Never()) })
}

/** GET /v1/crdbs: always empty. */
export const listCrdbs = listNone('/v1/crdbs', 'view_crdb_list', 'the databases over several clusters')
/** GET /v1/crdb_tasks: always empty. */
export const listCrdbTasks = listNone('/v1/crdb_tasks', 'view_crdb_task_list', 'the tasks of such databases')
/** GET /v1/ldap_mappings: always empty. */
export const listLdapMappings = listNone(
  '/v1/ldap_mappings',
  'view_all_ldap_mappings_info',
  'roles of groups in a directory',
)
/** GET /v1/proxies: always empty. */
export const listProxies = listNone('/v1/proxies', 'view_all_proxies_info', 'settings of proxies')
/** GET /v1/services: always empty. */
export const listServices = listNone('/v1/services', 'view_cluster_info', 'optional services')
/** GET /v1/suffixes: always empty. */
export const listSuffixes = listNone('/v1/suffixes', 'view_cluster_info', 'named suffixes of endpoints')

/** Alerts by their names. */
const NoAlerts = Type.Object({}, { additionalProperties: false })

/** `ignore_settings` shows alerts that are switched off, too. */
const alerts = {
  method: 'GET',
  query: closed({
    ignore_settings: Type.Optional(Type.Boolean({ description: 'There are none either way' })),
  }),
  ok: NoAlerts,
} as const

/** GET /v1/bdbs/alerts: Fairlead has events and metrics in place of alerts. */
export const listDatabasesAlerts = operation({
  ...alerts,
  path: '/v1/bdbs/alerts',
  summary: 'Alerts of all databases, by uid: there are none',
  permission: 'view_all_bdbs_alerts',
})

/** GET /v1/bdbs/alerts/:uid. */
export const listDatabaseAlerts = operation({
  ...alerts,
  path: '/v1/bdbs/alerts/:uid',
  summary: 'Alerts of a database: there are none',
  permission: 'view_bdb_alerts',
  params: Type.Object({ uid: DatabaseUid }),
  errors: ['db_not_exist'],
})

/** GET /v1/nodes/alerts. */
export const listNodesAlerts = operation({
  ...alerts,
  path: '/v1/nodes/alerts',
  summary: 'Alerts of all nodes, by uid: there are none',
  permission: 'view_all_nodes_alerts',
})

/** GET /v1/nodes/alerts/:uid. */
export const listNodeAlerts = operation({
  ...alerts,
  path: '/v1/nodes/alerts/:uid',
  summary: 'Alerts of a node: there are none',
  permission: 'view_node_alerts',
  params: OfNode,
  errors: ['node_not_exist'],
})

/** GET /v1/cluster/alerts. */
export const listClusterAlerts = operation({
  ...alerts,
  path: '/v1/cluster/alerts',
  summary: 'Alerts of the cluster: there are none',
  permission: 'view_cluster_alerts',
})
