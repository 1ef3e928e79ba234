import type { Build } from '@fairlead/api'
import { compareVersions } from '@fairlead/engine'

/**
 * Why shards of these two builds cannot be in one cluster, as a sentence; undefined when no reason is known. An upgrade of a sharded database
 * has shards of both for a while.
 *
 * On the bus, redis since 8.0 sends the secret of its cluster as extension 4 of a ping, and valkey since 8.0 takes extension 4
 * for the address that clients are to use: MOVED and CLUSTER NODES then name that secret, and the memory behind it, as the host.
 * Measured with redis 6.0, 7.0 and 8.0 and valkey 8.0, 8.1 and 9.1, each with each other: `reconcile/loop/cluster-pairs.test.ts`.
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
