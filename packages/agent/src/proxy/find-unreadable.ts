import { statSync } from 'node:fs'
import { join } from 'node:path'
import { codeFolders } from './code-folders.ts'

/**
 * Describes what other users cannot read of a Node program and its code, as after a clone with `umask 077`,
 * with the command that opens it; undefined if it finds nothing. `main`: its first file. The command never
 * opens folders that contain `home`.
 */
export function findUnreadable(program: string, main: string, home: string): string | undefined {
  const folders = codeFolders(main)
  const files = [program, main, ...folders.map((each) => join(each, 'package.json'))]
  const closed = [
    ...folders.filter((each) => isClosed(each, 0o005)),
    ...files.filter((each) => isClosed(each, 0o004)),
  ]
  const [first] = closed
  if (first === undefined) return undefined
  const isOpened = (path: string) => !isWithin(home, path)
  const commands = closed
    .filter((each) => isOpened(each) && !closed.some((other) => other !== each && isWithin(each, other)))
    .map(quote)
  const wayOut = commands.length === 0 ? '' : `; this opens it: chmod -R go+rX ${commands.join(' ')}`
  return `other users cannot read ${first}${wayOut}`
}

function isClosed(path: string, right: number): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && (found.mode & right) !== right
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

function quote(path: string): string {
  return /^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
