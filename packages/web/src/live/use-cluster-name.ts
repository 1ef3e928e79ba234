import { nameOfCluster } from '../words/name-of-cluster.ts'
import { useMay } from './permissions.ts'
import { useSettings } from './queries.ts'

/** The cluster's name: a reader with several open must not confuse them. */
export function useClusterName(): string {
  const may = useMay()
  return nameOfCluster(useSettings(may('view_cluster_info')).data?.name, location.host)
}
