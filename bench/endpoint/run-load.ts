import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Run } from './summarize-endpoint.ts'

/** Where the load connects, and the processes whose CPU time is measured. */
export interface Course {
  readonly program: string
  readonly port: number
  /** The process between clients and engine; null when they are connected directly. */
  readonly betweenPid: number | null
  readonly enginePid: number
  /** The file with the authority of the clients' TLS; null: they speak none. */
  readonly caFile: string | null
}

const CLIENTS = 50
/** Bytes of a value. */
const VALUE_BYTES = 100
/** The kernel counts CPU time in hundredths of a second, on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100

/**
 * Runs the engine's own benchmark once: this many SETs by 50 clients, each with `pipeline` of them under way.
 */
export async function runLoad(
  { program, port, betweenPid, enginePid, caFile }: Course,
  { pipeline, requests }: { readonly pipeline: number; readonly requests: number },
): Promise<Omit<Run, 'way'>> {
  const before = [cpuSeconds(betweenPid), cpuSeconds(enginePid), endedChildrenSeconds()] as const
  const options = { '-h': '127.0.0.1', '-p': port, '-t': 'set', '-d': VALUE_BYTES, '-c': CLIENTS }
  const sizes = { '-P': pipeline, '-n': requests, '-r': 100_000 }
  const args = Object.entries({ ...options, ...sizes })
    .flat()
    .map(String)
  const tls = caFile === null ? [] : ['--tls', '--cacert', caFile]
  const { stdout } = await promisify(execFile)(program, [...args, ...tls, '--csv'])
  const after = [cpuSeconds(betweenPid), cpuSeconds(enginePid), endedChildrenSeconds()] as const
  const cpu = {
    between: after[0] - before[0],
    engine: after[1] - before[1],
    clients: after[2] - before[2],
  }
  return { pipeline, requests, ...readLoad(stdout), cpu }
}

/** The only row of the table that the benchmark prints as CSV. Throws when there is no such row. */
export function readLoad(csv: string): Pick<Run, 'perSecond' | 'p50Ms' | 'p99Ms'> {
  const [head = [], row = []] = csv
    .trim()
    .split('\n')
    .map((line) => line.split(',').map((cell) => cell.replaceAll('"', '').trim()))
  const cell = (name: string): number => {
    const value = Number(row[head.indexOf(name)])
    if (Number.isFinite(value)) return value
    throw new Error(`the benchmark printed no ${name}: ${csv.slice(0, 300)}`)
  }
  return { perSecond: cell('rps'), p50Ms: cell('p50_latency_ms'), p99Ms: cell('p99_latency_ms') }
}

function cpuSeconds(pid: number | null): number {
  if (pid === null) return 0
  const [user = 0, system = 0] = statOf(pid).slice(11, 13)
  return (user + system) / TICKS_PER_SECOND
}

/**
 * CPU time of the children of this process that have ended: these are the clients, because no other child
 * ends during a run.
 */
function endedChildrenSeconds(): number {
  const [user = 0, system = 0] = statOf(process.pid).slice(13, 15)
  return (user + system) / TICKS_PER_SECOND
}

/**
 * The fields of /proc/PID/stat behind the name, which may contain any character; the first field is the
 * state.
 */
function statOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
}
