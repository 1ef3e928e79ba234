import { readFileSync } from 'node:fs'
import { readFile, statfs } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import type { NodeReport, StatisticsReport } from '@fairlead/api'

/** Total and free memory of a node, in bytes, and its cores. */
export type NodeMemory = Pick<NodeReport, 'cores' | 'memoryTotalBytes' | 'memoryFreeBytes'>

/** `limitBytes`: memory for all shards together (null: no limit); `pids` are their processes. */
export async function readMemory(limitBytes: number | null, pids: readonly number[]): Promise<NodeMemory> {
  const limit = limitBytes ?? Number.POSITIVE_INFINITY
  const available = readAvailableBytes()
  // Needed only with a limit, and requires reading a file per process.
  const used = limitBytes === null ? [] : await Promise.all(pids.map(readResidentBytes))
  const usedByShards = used.reduce((sum, bytes) => sum + bytes, 0)
  return {
    cores: availableParallelism(),
    memoryTotalBytes: Math.min(totalmem(), limit),
    memoryFreeBytes: Math.max(0, Math.min(available, limit - usedByShards)),
  }
}

/** Returns the free bytes on the disk of the folder. */
export async function readDiskFree(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** Returns the machine's processor time since boot, in ticks of all cores; waiting for a disk is idle. */
export async function readTicks(): Promise<StatisticsReport['ticks']> {
  const [line = ''] = (await readFile('/proc/stat', 'utf8')).split('\n')
  const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, ...interrupts] = line
    .split(/\s+/)
    .slice(1)
    .map(Number)
  const [hard = 0, soft = 0] = interrupts
  return { user: user + nice, system: system + hard + soft, idle: idle + waiting }
}

/** Synchronous, at a tenth of the cost: the kernel answers from memory. */
function readAvailableBytes(): number {
  return readKibibytes(readFileSync('/proc/meminfo', 'utf8'), 'MemAvailable')
}

async function readResidentBytes(pid: number): Promise<number> {
  try {
    return readKibibytes(await readFile(`/proc/${pid}/status`, 'utf8'), 'VmRSS')
  } catch {
    // It has ended, and uses nothing.
    return 0
  }
}

function readKibibytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024
}
