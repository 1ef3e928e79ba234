import type { Address, EndpointSpec } from '@fairlead/api/of-proxies'

/** The addresses of all shards of a database that were given with its endpoint. */
export function addressesOf({ upstream, shards, replicas = [] }: EndpointSpec): readonly Address[] {
  return [upstream, ...(shards ?? []).map((shard) => shard.upstream), ...replicas]
}
