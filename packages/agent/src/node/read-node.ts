import { readFileSync } from 'node:fs'
import { readFile, statfs } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import type { NodeReport, StatisticsReport } from '@fairlead/api'

/** The memory that a node has, and how much of it is free, in bytes; and its cores. */
export type NodeMemory = Pick<NodeReport, 'cores' | 'memoryTotalBytes' | 'memoryFreeBytes'>

/** `limitBytes` is the memory that shards may use together, null without a limit; `pids` are their processes. */
export async function readMemory(limitBytes: number | null, pids: readonly number[]): Promise<NodeMemory> {
  const limit = limitBytes ?? Number.POSITIVE_INFINITY
  const available = readAvailableBytes()
  // It matters only where there is a limit, and costs reading a file for each process.
  const used = limitBytes === null ? [] : await Promise.all(pids.map(readResidentBytes))
  const usedByShards = used.reduce((sum, bytes) => sum + bytes, 0)
  return {
    cores: availableParallelism(),
    memoryTotalBytes: Math.min(totalmem(), limit),
    memoryFreeBytes: Math.max(0, Math.min(available, limit - usedByShards)),
  }
}

/** How many bytes are free on the disk where the folder lies. */
export async function readDiskFree(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** Processor time of the machine since it booted, in ticks of all its cores. Waiting for a disk counts as idle. */
export async function readTicks(): Promise<StatisticsReport['ticks']> {
  const [line = ''] = (await readFile('/proc/stat', 'utf8')).split('\n')
  const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, ...interrupts] = line
    .split(/\s+/)
    .slice(1)
    .map(Number)
  const [hard = 0, soft = 0] = interrupts
  return { user: user + nice, system: system + hard + soft, idle: idle + waiting }
}

/** The kernel answers from memory: a call that waits for no other thread costs a tenth. */
function readAvailableBytes(): number {
  return readKibibytes(readFileSync('/proc/meminfo', 'utf8'), 'MemAvailable')
}

async function readResidentBytes(pid: number): Promise<number> {
  try {
    return readKibibytes(await readFile(`/proc/${pid}/status`, 'utf8'), 'VmRSS')
  } catch {
    // It ended meanwhile, and uses nothing any more.
    return 0
  }
}

function readKibibytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024
}
