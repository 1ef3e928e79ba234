import { nameOfCluster } from '../words/name-of-cluster.ts'
import { useMay } from './permissions.ts'
import { useSettings } from './queries.ts'

/** Which cluster this is: a reader with several open must not take one for another. */
export function useClusterName(): string {
  const may = useMay()
  return nameOfCluster(useSettings(may('view_cluster_info')).data?.name, location.host)
}
