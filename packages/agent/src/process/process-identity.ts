import { readdirSync, readFileSync } from 'node:fs'
import { codeOf } from '@fairlead/engine'
import { readOrNull } from './read-or-null.ts'
import { openOwnFolder } from './works-in-folder.ts'

/** Identifies a process permanently, unlike its pid, by its start time and the machine's boot, too. */
export interface ProcessIdentity {
  readonly pid: number
  /** Clock ticks after boot, as in /proc. */
  readonly startTime: string
  readonly bootId: string
}

/** Returns the identity of the process with this pid; null if there is none, or it is a zombie. */
export function identifyProcess(pid: number): ProcessIdentity | null {
  const stat = readStat(pid)
  return stat && { pid, startTime: stat.startTime, bootId: readBootId() }
}

/** True if this process runs. Another process that got its pid later does not count. */
export function isAlive(identity: ProcessIdentity): boolean {
  const now = identifyProcess(identity.pid)
  return now !== null && now.startTime === identity.startTime && now.bootId === identity.bootId
}

/** Signals this process; false if it has ended. Another process with the same pid gets no signal. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false
  try {
    return process.kill(identity.pid, signal)
  } catch (cause) {
    // It ended between the check and the signal.
    if (codeOf(cause) === 'ESRCH') return false
    throw cause
  }
}

/**
 * Finds the engine process in `folder` without a recorded identity: the agent died right after starting it.
 * It is ours, works in `folder` or below, has the configuration `conf` or is a server of `port` by its title,
 * and is no fork. Null if there is none.
 */
export function findEngineProcess(folder: string, conf: string, port: number): ProcessIdentity | null {
  return findProcess(folder, (args) => isEngineOf(args.join(' '), conf, port))
}

/**
 * Finds our process that works in `folder` or below, and whose arguments (with the program first) satisfy
 * `isWanted`. Forks do not count. Null if there is none.
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

/** State of one thread in /proc; `state` is its letter (R, S, D, T, Z). */
export interface ThreadStat {
  readonly state: string
  /** Used processor time, in user and kernel mode, in 10 ms. */
  readonly ticks: number
}

export interface ProcessStat extends ThreadStat {
  readonly parent: number
  readonly startTime: string
}

/**
 * Reads /proc/<pid>/stat, or that of a thread: state (field 3), parent (4), processor time (14 and 15), start
 * time (22). The name in field 2 may contain any characters.
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

/** Constant while this process runs. */
function readBootId(): string {
  bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return bootId
}

let bootId: string | undefined
