import { availableParallelism } from 'node:os'

/**
 * Node's flags for a part of the control plane, or for the proxy, with the measurement that justifies each:
 * 1. Server, young generation of 16 to 32 MB instead of 1 to 16: requests make many short-lived objects, and
 *    on two cores frequent collections cost more than they free. A fifth more reads per second.
 * 2. Server, old generation grows by half between collections: with the default, a server with 10,000
 *    databases, which needs 120 MB, kept 390 MB after its first look at all of them (bench/scale).
 * 3. Proxy, small young generation: its objects are short-lived pieces of traffic, and its memory is limited.
 *    Same speed, 40 MB less with 10,000 clients (bench/endpoint). No limit of the old generation: at a limit
 *    the process would end with all connections.
 * 4. Proxy, buffers count as heap: otherwise V8 collects the whole heap after each 62 MB of buffers, and a
 *    neighbour's request waits for that; 48 such collections for 3.3 GB of traffic, 2 with the flag
 *    (bench/README.md). Unused buffers are still freed with the young generation, after about 70 MB.
 * 5. Proxy, V8 threads for half of the processors: they mark the heap while the loop runs. On two cores, four
 *    took up to half of the proxy's CPU time from engines and neighbours; with one the endpoint is as fast.
 */
export function nodeFlags(part: string, processors = availableParallelism()): readonly string[] {
  switch (part) {
    case 'server':
      return ['--min-semi-space-size=16', '--max-semi-space-size=32', '--heap-growing-percent=50']
    case 'proxy':
      return ['--max-semi-space-size=1', `--v8-pool-size=${helpersOn(processors)}`, ...countsBuffersAsHeap]
    default:
      return []
  }
}

/** Node's default number of threads. */
const MOST_HELPERS = 4

function helpersOn(processors: number): number {
  return Math.max(1, Math.min(MOST_HELPERS, Math.floor(processors / 2)))
}

/** Node does not start with a flag that its V8 does not know. */
const countsBuffersAsHeap = process.versions.v8.startsWith('13.6.')
  ? ['--external-memory-accounted-in-global-limit']
  : []
