import type { Address, EndpointSpec } from '@fairlead/api/of-proxies'

/** Returns the addresses of all shards in an endpoint's spec. */
export function addressesOf({ upstream, shards, replicas = [] }: EndpointSpec): readonly Address[] {
  return [upstream, ...(shards ?? []).map((shard) => shard.upstream), ...replicas]
}
