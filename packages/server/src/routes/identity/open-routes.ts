import { getLicense, listCrdbs, openLicense } from '@fairlead/api'
import type { Databases } from '../../fleet/databases/databases-service.ts'
import type { Mount } from '../../http/mount.ts'
import type { Cluster } from '../../identity/cluster/cluster-service.ts'

/** Serves what programs of the wider API read, and Fairlead has one answer to. */
export function openRoutes(
  mount: Mount,
  cluster: Pick<Cluster, 'settings'>,
  databases: Pick<Databases, 'countShards'>,
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
  mount(listCrdbs, async () => [])
}
