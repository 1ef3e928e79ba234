import { availableParallelism } from 'node:os'

/**
 * The flags of Node for a part of the control plane, or for the proxy. The server's young generation is larger (16 to 32 MB
 * instead of 1 to 16): requests make many objects that live for a moment only, and on two cores frequent collections cost more
 * than they free. Measured by `npm run bench -- auth`: a fifth more reads a second.
 *
 * Its old generation may grow by half before it is collected. By default it may grow by more: a server with 10,000 databases,
 * which needs 120 MB, kept 390 MB after its first look at all of them (`npm run bench -- scale`).
 *
 * The proxy's young generation is small: its objects are pieces of traffic that live for a moment, and its memory is limited.
 * Measured by `npm run bench -- endpoint`: the same speed, and 40 MB less with 10,000 clients. Its old generation has no limit: a
 * process that reaches such a limit ends, and all its connections with it. And V8 collects all of the heap after each 62 MB of
 * buffers, which is as much traffic, unless these count as the heap does (48 such collections for 3.3 GB, 2 with the flag): a
 * neighbour's request waits for each (bench/README.md). Unused buffers are still freed with the young generation,
 * after each 70 MB or so. V8's own threads, which mark the heap while the loop runs, are half as many as there are processors: on
 * two of them four took up to half of the proxy's processor time from engines and neighbours (`npm run bench -- neighbours`), and
 * with one the endpoint is as fast.
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

/** The number of threads that Node starts by default. */
const MOST_HELPERS = 4

function helpersOn(processors: number): number {
  return Math.max(1, Math.min(MOST_HELPERS, Math.floor(processors / 2)))
}

/** With a V8 that does not know the flag, Node would not start. */
const countsBuffersAsHeap = process.versions.v8.startsWith('13.6.')
  ? ['--external-memory-accounted-in-global-limit']
  : []
