import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { identifyProcess, isAlive, type ProcessIdentity } from '@fairlead/agent'
import type { Config } from '@fairlead/server'

/** The running `fairlead up` of a home, for `fairlead down`, and to refuse a second one. */
export interface UpFile {
  /** The process of the last start if it still runs, else null. */
  read(): ProcessIdentity | null
  write(): void
  remove(): void
}

/** `run/up.json` in FAIRLEAD_HOME, readable by its owner only. Ignores a record truncated by a crash. */
export function upFile({ home }: Config): UpFile {
  const file = join(home, 'run', 'up.json')
  return {
    read() {
      const recorded = readRecord(file)
      return recorded !== null && isAlive(recorded) ? recorded : null
    },
    write() {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      writeFileSync(file, JSON.stringify(identifyProcess(process.pid)), { mode: 0o600 })
    },
    remove: () => rmSync(file, { force: true }),
  }
}

function readRecord(file: string): ProcessIdentity | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity
  } catch {
    // Missing, or truncated by a crash: it names no running process.
    return null
  }
}
