import { chmodSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { CommandFault } from '../output/command-fault.ts'

/** Systems other than Windows, where files have the rights of owner, group and others. */
const hasModes = process.platform !== 'win32'

/** The text of a file of this user; undefined: there is none. With `isSecret` a file that others may read is refused: CommandFault. */
export function readPrivate(file: string, { isSecret = false } = {}): string | undefined {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined) return undefined
  if (isSecret && hasModes && (found.mode & 0o077) !== 0)
    throw new CommandFault('usage', `${file} can be read by others, so it is not used`, {
      next: `close it: chmod 600 ${file}`,
    })
  return readFileSync(file, 'utf8')
}

/** Replaces a file as a whole, in a folder that is its owner's alone: a reader sees the old one or the new one. */
export function writePrivate(file: string, text: string): void {
  const folder = dirname(file)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (hasModes && (lstatSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700)
  const fresh = `${file}.${process.pid}.new`
  rmSync(fresh, { force: true })
  writeFileSync(fresh, text, { mode: 0o600, flag: 'wx' })
  renameSync(fresh, file)
}
