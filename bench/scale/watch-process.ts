import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** The kernel counts processor time in these. */
const TICK_MS = 10

/** The processor time of a process in a period, as a share of one core, and its memory at the end. */
export interface Share {
  readonly cores: number
  readonly rssBytes: number
}

/** Watches processes for this time. */
export async function watchProcesses(pids: readonly number[], forMs: number): Promise<readonly Share[]> {
  const [began, before] = [performance.now(), pids.map((pid) => cpuMs(pid))]
  await pause(forMs)
  const ms = performance.now() - began
  return pids.map((pid, n) => ({ cores: (cpuMs(pid) - (before[n] ?? 0)) / ms, rssBytes: rssBytes(pid) }))
}

/** Processor time of a process since its start, or of the children that it has waited for. */
export function cpuMs(pid: number, of: 'own' | 'children' = 'own'): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const first = of === 'own' ? 11 : 13
  return (Number(fields[first]) + Number(fields[first + 1])) * TICK_MS
}

function rssBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1_024
}

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24

/**
 * The state of a write-ahead log of SQLite: how many pages were written since it was last restarted, and an
 * id of that restart.
 */
export interface WalState {
  readonly salt: string
  readonly frames: number
}

/** Reads it from outside (`file`: that of the store with -wal behind it), while a server has it open. */
export function readWal(file: string): WalState {
  const fd = openSync(file, 'r')
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    if (readSync(fd, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return { salt: '', frames: 0 }
    const [pageBytes, salt] = [header.readUInt32BE(8), header.toString('hex', 16, 24)]
    const frame = Buffer.alloc(FRAME_HEADER_BYTES)
    let frames = 0
    for (let at = HEADER_BYTES; ; at += FRAME_HEADER_BYTES + pageBytes, frames += 1) {
      if (readSync(fd, frame, 0, FRAME_HEADER_BYTES, at) < FRAME_HEADER_BYTES) break
      if (frame.toString('hex', 8, 16) !== salt) break // from before the restart
    }
    return { salt, frames }
  } finally {
    closeSync(fd)
  }
}

/**
 * Pages written between two states. If the log was restarted in between, pages from before are not counted
 * twice, and may be missing.
 */
export function pagesBetween(before: WalState, after: WalState): number {
  return before.salt === after.salt ? after.frames - before.frames : after.frames
}
