import { readFile, writeFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import type { ShardSpec } from '@fairlead/api'
import type { ProcessRecord } from '../folder/shard-folder.ts'
import type { ShardWorkplace } from './shard-workplace.ts'

const MOST = 900
const LEAST = 300

/**
 * What a process is given on top when the kernel, out of memory, looks for one to end (oom_score_adj, in thousandths of all memory). The
 * kernel takes the process with the largest sum of that and of what it uses. What an engine may use is taken off: so the one goes first that
 * uses most beyond its limit. Never less than 300: server, agent and proxy, which have nothing on top, go last. `maxmemory` 0: without a limit.
 */
export function oomScoreOf(maxmemory: number, totalBytes: number): number {
  const share = maxmemory === 0 ? 1 : maxmemory / totalBytes
  return Math.max(LEAST, MOST - Math.round(1_000 * share))
}

/**
 * Tells the kernel of a process that runs, once for each process and limit: also of one that was started before there was that. What it forks has the
 * same. Some containers forbid it, and the process may just have gone: then it stays as it is.
 */
export async function keepOomScore(
  place: Pick<ShardWorkplace, 'scored'>,
  { memoryBytes }: Pick<ShardSpec, 'memoryBytes'>,
  last: ProcessRecord | null,
): Promise<void> {
  if (!last?.identity || last.ended) return
  const { pid, startTime } = last.identity
  const score = `${pid} ${startTime} ${memoryBytes}`
  if (place.scored === score) return
  place.scored = score
  // The value that Fairlead itself was given (by its service, for example) is the base for its engines.
  const own = Number(await readFile('/proc/self/oom_score_adj', 'utf8'))
  const text = String(Math.min(1_000, own + oomScoreOf(memoryBytes, allMemory())))
  await writeFile(`/proc/${pid}/oom_score_adj`, text).catch(() => undefined)
}

/** Within a group of processes with a limit of its own, that is all there is. */
function allMemory(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
