import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { CommandFault } from '../output/command-fault.ts'

/** False on Windows, where files have no rights of owner, group and others. */
const hasModes = process.platform !== 'win32'

/** Reads a user's file, or undefined. With `isSecret`, others must not read it. Throws CommandFault. */
export function readPrivate(file: string, { isSecret = false } = {}): string | undefined {
  return toldAs(file, () => {
    const found = lstatSync(file, { throwIfNoEntry: false })
    if (found === undefined) return undefined
    if (isSecret && hasModes && (found.mode & 0o077) !== 0)
      throw new CommandFault('usage', `${file} can be read by others, so it is not used`, {
        next: `close it: chmod 600 ${file}`,
      })
    return readFileSync(file, 'utf8')
  })
}

/** Replaces a file atomically. Refuses a folder that others may write to. Throws CommandFault. */
export function writePrivate(file: string, text: string): void {
  const folder = dirname(file)
  toldAs(file, () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (hasModes && (statSync(folder).mode & 0o022) !== 0)
      throw new CommandFault('usage', `${folder} can be written to by others, so nothing is kept in it`, {
        next: `close it: chmod 700 ${folder}; or choose another: FAIRLEAD_CONFIG`,
      })
    const fresh = `${file}.${process.pid}.new`
    rmSync(fresh, { force: true })
    writeFileSync(fresh, text, { mode: 0o600, flag: 'wx' })
    renameSync(fresh, file)
  })
}

/** Reports a system error as a fault of the configuration. */
function toldAs<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof CommandFault) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CommandFault('usage', `${file} cannot be used: ${why}`, { cause })
  }
}
