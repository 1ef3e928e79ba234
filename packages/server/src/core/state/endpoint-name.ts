/** What the proxy of a node calls the endpoint of a database. */
export function endpointName(databaseUid: number): string {
  return `db${databaseUid}`
}

/** Where clients of every database connect, until there are more nodes. */
export const ENDPOINT_HOST = '127.0.0.1'

/** What clients may call that: the names that the TLS certificate of endpoints proves. */
export const endpointHosts: readonly string[] = [...new Set([ENDPOINT_HOST, 'localhost', '127.0.0.1', '::1'])]
