import type { Address } from '@fairlead/api'

/** The distance from the port of a shard in cluster mode to the port on which it listens for other nodes (its bus). */
export const BUS_DISTANCE = 10_000

interface Record {
  readonly host: string
  readonly port: number
  readonly tlsPort: number | null
}

/** The address at which a shard can follow another one, and whether with TLS: only if both can. */
export function addressToFollow(
  { host, port, tlsPort }: Record,
  canSpeakTls: boolean,
): Address & { readonly tls: boolean } {
  return tlsPort !== null && canSpeakTls ? { host, port: tlsPort, tls: true } : { host, port, tls: false }
}

/**
 * If shards speak TLS to each other, an engine reports the TLS port of the shard that it follows. Answers the address that is on record for that
 * shard; other addresses are unchanged.
 */
export function plainAddress(address: Address, records: readonly Record[]): Address {
  const known = records.find(({ host, tlsPort }) => host === address.host && tlsPort === address.port)
  return known === undefined ? address : { host: known.host, port: known.port }
}

/** The same for a node of the cluster: if an engine has not heard the node yet, it reports no port or a wrong one, but the right bus port. */
export function addressOnRecord(
  { address, busPort }: { readonly address: Address; readonly busPort: number },
  records: readonly Record[],
): Address {
  const known = records.find(
    ({ host, port, tlsPort }) => tlsPort !== null && host === address.host && port + BUS_DISTANCE === busPort,
  )
  return known === undefined ? address : { host: known.host, port: known.port }
}
