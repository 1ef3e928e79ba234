/** The name of a database's endpoint at the proxy of a node. */
export function endpointName(databaseUid: number): string {
  return `db${databaseUid}`
}

/** The host to which clients of every database connect, until there are more nodes. */
export const ENDPOINT_HOST = '127.0.0.1'

/** The names that clients may use for it: the TLS certificate of endpoints proves them. */
export const endpointHosts: readonly string[] = [...new Set([ENDPOINT_HOST, 'localhost', '127.0.0.1', '::1'])]
