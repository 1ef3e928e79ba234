import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { codeOf } from './code-of.ts'

/** SQLite's SQLITE_BUSY: another connection has the lock. */
const BUSY = 5

/**
 * Takes the lock of the file at `path`, which is made if it is not there and stays empty, until disposed of; null when another
 * process has it. The lock is the kernel's, on the file itself: it is seen by every container that has the volume, and ends with the
 * process that holds it, however that ends. Node knows no flock: SQLite, which is part of Node, takes such a lock. Throws when the
 * file cannot be opened.
 */
export function lockFile(path: string): Disposable | null {
  makeFile(path)
  const file = new DatabaseSync(path)
  try {
    // A transaction that never writes: it needs no journal, and works on a full disk.
    file.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return { [Symbol.dispose]: () => file.close() }
  } catch (cause) {
    file.close()
    if ((cause as { errcode?: number }).errcode === BUSY) return null
    throw cause
  }
}

/**
 * SQLite would make it with the mode that the umask leaves; then every user that can read the file could lock
 * it.
 */
function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (cause) {
    // An existing file is never opened here: closing it would release a lock that this process may hold.
    if (codeOf(cause) !== 'EEXIST') throw cause
  }
}
