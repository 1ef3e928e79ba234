/** What a cluster is called that got no name when it was created. */
const UNNAMED = 'fairlead'

/** How a cluster is told from others: its name; without one, or while it is not known, the address of this page. */
export function nameOfCluster(name: string | undefined, host: string): string {
  return name === undefined || name === '' || name === UNNAMED ? host : name
}
