import { constants, lstatSync, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { codeOf } from '@fairlead/engine'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/**
 * Opens a file in a folder where an engine or a module may write: it may have put a named pipe there (which
 * blocks a thread forever), a link to another user's file, or an endless device. Throws immediately for all
 * but a plain file, and like open(2): ENOENT if missing. `flags` as for open(2), default: reading; a new file
 * is only for its owner; the caller closes it.
 */
export async function openPlainFile(path: string, flags: number = O_RDONLY): Promise<FileHandle> {
  const file = await open(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o600)
  try {
    if ((await file.stat()).isFile()) return file
    throw new Error(`${path} is not a plain file`)
  } catch (cause) {
    await file.close()
    throw cause
  }
}

/** Reads such a file as UTF-8. Throws if it has more than `mostBytes`, without reading more. */
export async function readPlainFile(path: string, mostBytes: number): Promise<string> {
  await using file = await openPlainFile(path)
  const { size } = await file.stat()
  if (size > mostBytes) throw new Error(`${path} is longer than ${mostBytes} bytes`)
  // The file may have grown since the size was read, so it is read in one piece.
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0)
  return buffer.toString('utf8', 0, bytesRead)
}

/**
 * Null if there is no plain file. Opens nothing. Synchronous, at a tenth of the cost, because each look at a
 * disk checks several files, most of them missing.
 */
export function statPlainFile(path: string): Stats | null {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false })
    return found?.isFile() === true ? found : null
  } catch (cause) {
    // Its parent is not a folder.
    if (codeOf(cause) === 'ENOTDIR') return null
    throw cause
  }
}
