/** Of these cores, most are for the shards, whose work the proxy only passes on. */
const CORES_PER_WORKER = 4
const MOST = 4

/** How many threads serve the endpoints of a machine, unless told. */
export function countWorkers(cores: number): number {
  return Math.max(1, Math.min(MOST, Math.floor(cores / CORES_PER_WORKER)))
}
