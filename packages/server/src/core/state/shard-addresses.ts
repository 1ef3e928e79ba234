import type { Address } from '@fairlead/api'

/** How far above its port a shard in cluster mode listens for the other nodes. */
export const BUS_DISTANCE = 10_000

interface Record {
  readonly host: string
  readonly port: number
  readonly tlsPort: number | null
}

/** Where a shard finds one that it is to follow, and whether over TLS: only if both can. */
export function addressToFollow(
  { host, port, tlsPort }: Record,
  canSpeakTls: boolean,
): Address & { readonly tls: boolean } {
  return tlsPort !== null && canSpeakTls ? { host, port: tlsPort, tls: true } : { host, port, tls: false }
}

/**
 * Where shards speak TLS to each other, an engine names the port that speaks TLS for the shard that it follows. The address by which we know that
 * shard; of others as it is.
 */
export function plainAddress(address: Address, records: readonly Record[]): Address {
  const known = records.find(({ host, tlsPort }) => host === address.host && tlsPort === address.port)
  return known === undefined ? address : { host: known.host, port: known.port }
}

/** The same for a node of the cluster: of one that an engine has not heard yet it has no port, or the wrong one; but that of its bus. */
export function addressOnRecord(
  { address, busPort }: { readonly address: Address; readonly busPort: number },
  records: readonly Record[],
): Address {
  const known = records.find(
    ({ host, port, tlsPort }) => tlsPort !== null && host === address.host && port + BUS_DISTANCE === busPort,
  )
  return known === undefined ? address : { host: known.host, port: known.port }
}
