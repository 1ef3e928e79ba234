import { DatabaseSync } from 'node:sqlite'

/** SQLite's SQLITE_BUSY: another connection has the lock. */
const BUSY = 5

/**
 * Takes the lock of the file at `path`, which is made if it is not there and stays empty, until disposed of; null when another
 * process has it. The lock is the kernel's, on the file itself: it is seen by every container that has the volume, and ends with the
 * process that holds it, however that ends. Node knows no flock: SQLite, which is part of Node, takes such a lock. Throws when the
 * file cannot be opened.
 */
export function lockFile(path: string): Disposable | null {
  const file = new DatabaseSync(path)
  try {
    // A transaction that never writes: no journal, and nothing that a full disk could fail.
    file.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return { [Symbol.dispose]: () => file.close() }
  } catch (cause) {
    file.close()
    if ((cause as { errcode?: number }).errcode === BUSY) return null
    throw cause
  }
}
