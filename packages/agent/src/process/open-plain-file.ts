import { constants, lstatSync, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { codeOf } from '@fairlead/engine'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/**
 * Opens a file in a folder where an engine, or a module in it, may write. Such a process may have put anything
 * there: a named pipe, which blocks a thread of the agent without end; a link to another user's file; a device
 * that never ends. Throws at once for everything but a plain file, and as open(2) does: ENOENT where
 * there is none. `flags` as for open(2), by default for reading; a file made by O_CREAT is for its owner
 * only. The caller closes it.
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

/** The text of such a file, as UTF-8. Throws where it has more than `mostBytes`, without having read more than these. */
export async function readPlainFile(path: string, mostBytes: number): Promise<string> {
  await using file = await openPlainFile(path)
  const { size } = await file.stat()
  if (size > mostBytes) throw new Error(`${path} is longer than ${mostBytes} bytes`)
  // The size was read a moment ago, and the file may have grown: it is read in one piece.
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0)
  return buffer.toString('utf8', 0, bytesRead)
}

/** Null: no plain file is there. Opens nothing. Each look at a disk asks for several, most of which are not there: a call that waits for no other thread costs a tenth. */
export function statPlainFile(path: string): Stats | null {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false })
    return found?.isFile() === true ? found : null
  } catch (cause) {
    // What should be its folder is none.
    if (codeOf(cause) === 'ENOTDIR') return null
    throw cause
  }
}
