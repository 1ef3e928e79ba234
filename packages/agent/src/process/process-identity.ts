import { readdirSync, readFileSync } from 'node:fs'
import { codeOf } from '@fairlead/engine'
import { readOrNull } from './read-or-null.ts'
import { openOwnFolder } from './works-in-folder.ts'

/**
 * Identifies a process permanently: a pid is used again after a while; a pid together with its start time and the boot of the
 * machine is not.
 */
export interface ProcessIdentity {
  readonly pid: number
  /** Clock ticks after boot, as /proc says it. */
  readonly startTime: string
  readonly bootId: string
}

/** The identity of the process that has this pid now; null when there is none (a zombie is none). */
export function identifyProcess(pid: number): ProcessIdentity | null {
  const stat = readStat(pid)
  return stat && { pid, startTime: stat.startTime, bootId: readBootId() }
}

/** Does this very process run? Another process that got its pid later does not count. */
export function isAlive(identity: ProcessIdentity): boolean {
  const now = identifyProcess(identity.pid)
  return now !== null && now.startTime === identity.startTime && now.bootId === identity.bootId
}

/** Signals this very process; false when it does not run any more. Another process with the same pid gets no signal. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false
  try {
    return process.kill(identity.pid, signal)
  } catch (cause) {
    // It ended between the look and the signal.
    if (codeOf(cause) === 'ESRCH') return false
    throw cause
  }
}

/**
 * The engine process that was started in `folder` and has no recorded identity: the agent died right after
 * starting it. It is ours, works in `folder` or below, was given the configuration `conf` or calls itself a
 * server of `port`, and is no fork. Null when there is none.
 */
export function findEngineProcess(folder: string, conf: string, port: number): ProcessIdentity | null {
  return findProcess(folder, (args) => isEngineOf(args.join(' '), conf, port))
}

/**
 * The process of ours that works in this very `folder`, or below, and was started with the arguments that
 * `isWanted` looks for; the program is the first of them. Forks do not count. Null when there is none.
 */
export function findProcess(
  folder: string,
  isWanted: (args: readonly string[]) => boolean,
): ProcessIdentity | null {
  const worksThere = openOwnFolder(folder)
  if (worksThere === null) return null
  const candidates = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => worksThere(pid) && isWanted(argsOf(pid)))
  const root = candidates.find((pid) => !candidates.includes(readStat(pid)?.parent ?? 0))
  return root === undefined ? null : identifyProcess(root)
}

/** What /proc says of one thread; `state` is its letter there (R, S, D, T, Z). */
export interface ThreadStat {
  readonly state: string
  /** Processor time that it has used, its own and the kernel's for it, in hundredths of a second. */
  readonly ticks: number
}

export interface ProcessStat extends ThreadStat {
  readonly parent: number
  readonly startTime: string
}

/**
 * Reads /proc/<pid>/stat, or that of a thread: state (field 3), parent (4), processor time (14 and 15), start time (22). The name in
 * field 2 may hold anything.
 */
export function parseStat(text: string): ProcessStat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return {
    state: fields[0] ?? '',
    parent: Number(fields[1]),
    ticks: Number(fields[11]) + Number(fields[12]),
    startTime: fields[19] ?? '',
  }
}

function readStat(pid: number): ProcessStat | null {
  const text = readOrNull(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  const stat = text === null ? null : parseStat(text)
  return stat === null || /[ZX]/.test(stat.state) ? null : stat
}

function argsOf(pid: number): readonly string[] {
  return readOrNull(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))?.split('\0') ?? []
}

function isEngineOf(line: string, conf: string, port: number): boolean {
  return line.includes(conf) || new RegExp(`-server \\S+:${port}\\b`).test(line)
}

/** The same for as long as this process runs. */
function readBootId(): string {
  bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return bootId
}

let bootId: string | undefined
