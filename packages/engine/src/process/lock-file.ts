import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { codeOf } from './code-of.ts'

/** SQLite's SQLITE_BUSY: another connection has the lock. */
const BUSY = 5

/**
 * Locks the file at `path`, which is made empty if missing, until disposed; null if another process has the
 * lock. It is the kernel's lock on the file: every container with the volume sees it, and it ends with the
 * process that holds it, however that ends. Node has no flock, but its SQLite has such a lock; throws if the
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

/** SQLite would apply only the umask, so that every user that can read the file could lock it. */
function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (cause) {
    // An existing file is never opened here: closing it would release a lock that this process may hold.
    if (codeOf(cause) !== 'EEXIST') throw cause
  }
}
