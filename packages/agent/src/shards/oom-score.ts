import { readFile, writeFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import type { ShardSpec } from '@fairlead/api'
import type { ProcessRecord } from '../folder/shard-folder.ts'
import type { ShardWorkplace } from './shard-workplace.ts'

const MOST = 900
const LEAST = 300

/**
 * Returns an engine's addition (oom_score_adj, in thousandths of all memory) to its used memory: without
 * memory, the kernel ends the process with the largest sum. The engine's allowed memory is subtracted, so
 * that the first is the one most above its limit. It is at least 300: server, agent and proxy, with 0, are
 * ended last; `maxmemory` 0 is unlimited.
 */
export function oomScoreOf(maxmemory: number, totalBytes: number): number {
  const share = maxmemory === 0 ? 1 : maxmemory / totalBytes
  return Math.max(LEAST, MOST - Math.round(1_000 * share))
}

/**
 * Sets the score of a running process once per process and limit, also if it was started by an older agent;
 * its forks inherit it. It stays unchanged if a container forbids it, or the process is just gone.
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
  // Fairlead's value (for example from its service) is the base for its engines.
  const own = Number(await readFile('/proc/self/oom_score_adj', 'utf8'))
  const text = String(Math.min(1_000, own + oomScoreOf(memoryBytes, allMemory())))
  await writeFile(`/proc/${pid}/oom_score_adj`, text).catch(() => undefined)
}

/** A limited group of processes (cgroup) has only its limit. */
function allMemory(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
