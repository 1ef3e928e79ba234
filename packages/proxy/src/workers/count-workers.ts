/** Most cores are for the shards, because the proxy only passes their work on. */
const CORES_PER_WORKER = 4
const MOST = 4

/** The default number of threads that serve the endpoints of a machine. */
export function countWorkers(cores: number): number {
  return Math.max(1, Math.min(MOST, Math.floor(cores / CORES_PER_WORKER)))
}
