/** What the proxy of a node calls the endpoint of a database. */
export function endpointName(databaseUid: number): string {
  return `db${databaseUid}`
}
