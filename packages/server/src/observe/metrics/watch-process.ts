import { readdir, readFile } from 'node:fs/promises'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'

/** Load of this server's process; times in seconds, sizes in bytes. */
export interface ProcessReading {
  readonly startedAt: number
  readonly cpuSeconds: number
  readonly residentBytes: number
  readonly heapBytes: number
  /** Null if the kernel does not report it. */
  readonly openFiles: number | null
  readonly mostFiles: number | null
  readonly busySeconds: number
  /** `p50`, `p99` and `max`. */
  readonly delays: readonly (readonly [stat: string, seconds: number])[]
}

/** Observes this process until it is disposed of. */
export interface ProcessWatch extends Disposable {
  read(): Promise<ProcessReading>
}

/** Interval of loop measurements: detects delays that requests notice, and costs 0.1 % of a core. */
const RESOLUTION_MS = 20
const INTERVAL_MS = 10_000
const stats = [
  ['p50', 50],
  ['p99', 99],
  ['max', 100],
] as const

/** Delays are those of the last complete interval, so that several programs may read them. */
export function watchProcess(): ProcessWatch {
  const startedAt = performance.timeOrigin / 1_000
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  const read = () => stats.map(([name, percentile]) => [name, late(delay.percentile(percentile))] as const)
  let delays: ProcessReading['delays'] = stats.map(([name]) => [name, 0])
  const timer = setInterval(() => {
    delays = read()
    delay.reset()
  }, INTERVAL_MS).unref()
  return {
    async read() {
      const { user, system } = process.cpuUsage()
      const { rss, heapUsed } = process.memoryUsage()
      const [openFiles, mostFiles] = await Promise.all([countFiles(), readLimit()])
      return {
        startedAt,
        openFiles,
        mostFiles,
        delays,
        cpuSeconds: (user + system) / 1e6,
        residentBytes: rss,
        heapBytes: heapUsed,
        busySeconds: performance.eventLoopUtilization().active / 1_000,
      }
    },
    [Symbol.dispose]() {
      clearInterval(timer)
      delay.disable()
    },
  }
}

/** Subtracts the interval between measurements. */
function late(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1_000)
}

async function countFiles(): Promise<number | null> {
  return (await readdir('/proc/self/fd').catch(() => null))?.length ?? null
}

async function readLimit(): Promise<number | null> {
  const text = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const [, soft] = /^Max open files\s+(\d+)/m.exec(text) ?? []
  return soft === undefined ? null : Number(soft)
}
