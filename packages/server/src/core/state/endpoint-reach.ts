/** Returns the name of a database's endpoint at the proxy of a node. */
export function endpointName(databaseUid: number): string {
  return `db${databaseUid}`
}

/** The address that every endpoint has, while there is only one node: our own checks use it. */
export const ENDPOINT_HOST = '127.0.0.1'

/** Addresses and names at which clients reach endpoints. */
export interface EndpointReach {
  /** Addresses for other machines. Empty: only clients of this machine reach endpoints. */
  readonly addresses: readonly string[]
  /** End of the names of endpoints; null: they have addresses only. */
  readonly suffix: string | null
  /** Wanted addresses that this machine does not have. */
  readonly missing: readonly string[]
}

/** Endpoints without other addresses than loopback. */
export const onlyLoopback: EndpointReach = { addresses: [], suffix: null, missing: [] }

/** An address of this machine. */
export interface OwnAddress {
  readonly address: string
  /** It is for processes of this machine, or means nothing without the name of an interface. */
  readonly isLocal: boolean
}

/** Finds the reach of endpoints that listen at `wanted`, where `0.0.0.0` and `::` are all of a kind. */
export function reachOf(
  { wanted, suffix }: { readonly wanted: readonly string[]; readonly suffix: string | null },
  own: readonly OwnAddress[],
): EndpointReach {
  const usable = own.filter(({ isLocal }) => !isLocal).map(({ address }) => address)
  const addresses = wanted.flatMap((address) => {
    if (address === '0.0.0.0') return usable.filter((one) => !one.includes(':'))
    if (address === '::') return usable.filter((one) => one.includes(':'))
    return isLoopback(address) ? [] : [address]
  })
  const missing = wanted.filter(
    (address) => !isEvery(address) && !isLoopback(address) && !own.some((one) => one.address === address),
  )
  return { addresses, suffix, missing }
}

function isEvery(address: string): boolean {
  return address === '0.0.0.0' || address === '::'
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.')
}

/** Names and addresses that the endpoints' certificate proves. */
export function endpointHosts({ addresses, suffix }: EndpointReach): readonly string[] {
  const named = suffix === null ? [] : [suffix, `*.${suffix}`]
  return [...new Set([ENDPOINT_HOST, 'localhost', '::1', ...addresses, ...named])]
}

/** A place where clients find an endpoint. */
export interface EndpointPlace {
  readonly name: string
  readonly addresses: readonly string[]
  readonly isExternal: boolean
}

/** Returns the places of the endpoint with this port: first for other machines, if there is one. */
export function placesOf({ addresses, suffix }: EndpointReach, port: number): readonly EndpointPlace[] {
  // The form of the names that programs of the wider API know.
  const own = suffix === null ? undefined : `redis-${port}.${suffix}`
  const local = { name: ENDPOINT_HOST, addresses: [ENDPOINT_HOST], isExternal: false }
  const [first] = addresses
  if (first === undefined) return [{ ...local, name: own ?? local.name }]
  return [{ name: own ?? first, addresses, isExternal: true }, local]
}
