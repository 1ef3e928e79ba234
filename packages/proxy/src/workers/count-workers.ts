/** Most cores are for the shards: the proxy only passes their work on. */
const CORES_PER_WORKER = 4
const MOST = 4

/** Returns the default number of threads that serve a machine's endpoints. */
export function countWorkers(cores: number): number {
  return Math.max(1, Math.min(MOST, Math.floor(cores / CORES_PER_WORKER)))
}
