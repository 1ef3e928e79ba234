import type { Build } from '@fairlead/api'
import { compareVersions } from '@fairlead/engine'

/**
 * Returns why shards of these builds cannot be in one cluster, or undefined. (An upgrade of a sharded
 * database has both for a while.) On the bus Redis since 8.0 sends its cluster's secret as ping extension 4,
 * which Valkey since 8.0 reads as the address for clients: MOVED and CLUSTER NODES then name that secret, and
 * the memory behind it, as the host. Measured with all pairs of Redis 6.0, 7.0, 8.0 and Valkey 8.0, 8.1, 9.1:
 * `reconcile/loop/cluster-pairs.test.ts`.
 */
export function obstacleInOneCluster(a: Build, b: Build): string | undefined {
  const [one, other] = [a, b].map(describe)
  const isMix = (isSecretive(a) && takesForAddress(b)) || (isSecretive(b) && takesForAddress(a))
  return isMix
    ? `shards of ${one} and ${other} cannot be in one cluster: valkey takes what redis 8 tells of itself for an address, and sends clients there`
    : undefined
}

function isSecretive({ flavour, version }: Build): boolean {
  return flavour === 'redis' && compareVersions(version, '8.0') >= 0
}

function takesForAddress({ flavour, version }: Build): boolean {
  return flavour === 'valkey' && compareVersions(version, '8.0') >= 0
}

function describe({ flavour, version }: Build): string {
  return `${flavour} ${version}`
}
