/** Returns the name of a database's endpoint at the proxy of a node. */
export function endpointName(databaseUid: number): string {
  return `db${databaseUid}`
}

/** Host for clients of every database, while there is only one node. */
export const ENDPOINT_HOST = '127.0.0.1'

/** Names that clients may use for it; the endpoints' TLS certificate proves them. */
export const endpointHosts: readonly string[] = [...new Set([ENDPOINT_HOST, 'localhost', '127.0.0.1', '::1'])]
