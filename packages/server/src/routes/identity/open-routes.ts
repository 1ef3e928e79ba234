import {
  getLicense,
  listClusterAlerts,
  listCrdbs,
  listCrdbTasks,
  listDatabaseAlerts,
  listDatabasesAlerts,
  listLdapMappings,
  listNodeAlerts,
  listNodesAlerts,
  listProxies,
  listServices,
  listSuffixes,
  openLicense,
  Refusal,
} from '@fairlead/api'
import type { Databases } from '../../fleet/databases/databases-service.ts'
import type { Mount } from '../../http/mount.ts'
import type { Cluster } from '../../identity/cluster/cluster-service.ts'
import type { Nodes } from '../../nodes/nodes-service.ts'

/** Serves what programs of the wider API read, and Fairlead has one answer to. */
export function openRoutes(
  mount: Mount,
  cluster: Pick<Cluster, 'settings'>,
  databases: Pick<Databases, 'countShards' | 'get'>,
  nodes: Pick<Nodes, 'list'>,
): void {
  mount(getLicense, async () => {
    const [{ name, createdAt }, shards] = await Promise.all([cluster.settings(), databases.countShards()])
    return {
      license: 'Apache-2.0' as const,
      key: '' as const,
      expired: false as const,
      activation_date: (createdAt ?? '').replace(/\.\d+Z$/, 'Z'),
      ...openLicense,
      ram_shards_limit: openLicense.shards_limit,
      ram_shards_in_use: shards,
      flash_shards_limit: 0 as const,
      flash_shards_in_use: 0 as const,
      features: [],
      owner: '',
      cluster_name: name,
    }
  })
  for (const list of [
    ...[listCrdbs, listCrdbTasks, listLdapMappings],
    ...[listProxies, listServices, listSuffixes],
  ])
    mount(list, async () => [])

  for (const list of [listDatabasesAlerts, listNodesAlerts, listClusterAlerts]) mount(list, async () => ({}))
  mount(listDatabaseAlerts, async ({ params: { uid } }) => {
    await databases.get(uid)
    return {}
  })
  mount(listNodeAlerts, async ({ params }) => {
    if ((await nodes.list()).some(({ uid }) => uid === params.uid)) return {}
    throw new Refusal('node_not_exist', `node ${params.uid} does not exist`)
  })
}
