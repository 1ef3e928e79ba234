import type { Address } from '@fairlead/api'

/** Distance from a shard's port to its bus port in cluster mode. */
export const BUS_DISTANCE = 10_000

interface Record {
  readonly host: string
  readonly port: number
  readonly tlsPort: number | null
}

/** Returns the address at which a shard can follow another one; with TLS only if both can. */
export function addressToFollow(
  { host, port, tlsPort }: Record,
  canSpeakTls: boolean,
): Address & { readonly tls: boolean } {
  return tlsPort !== null && canSpeakTls ? { host, port: tlsPort, tls: true } : { host, port, tls: false }
}

/**
 * With TLS between shards an engine reports the TLS port of the followed shard: returns the recorded address
 * instead. Other addresses stay unchanged.
 */
export function plainAddress(address: Address, records: readonly Record[]): Address {
  const known = records.find(({ host, tlsPort }) => host === address.host && tlsPort === address.port)
  return known === undefined ? address : { host: known.host, port: known.port }
}

/** Like plainAddress, for a cluster node: before hearing of it, an engine reports only the right bus port. */
export function addressOnRecord(
  { address, busPort }: { readonly address: Address; readonly busPort: number },
  records: readonly Record[],
): Address {
  const known = records.find(
    ({ host, port, tlsPort }) => tlsPort !== null && host === address.host && port + BUS_DISTANCE === busPort,
  )
  return known === undefined ? address : { host: known.host, port: known.port }
}
