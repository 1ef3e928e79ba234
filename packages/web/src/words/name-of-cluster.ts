/** Name of a cluster that was created without one. */
const UNNAMED = 'fairlead'

/** The cluster's name; if it has none or it is unknown, the address of this page. */
export function nameOfCluster(name: string | undefined, host: string): string {
  return name === undefined || name === '' || name === UNNAMED ? host : name
}
