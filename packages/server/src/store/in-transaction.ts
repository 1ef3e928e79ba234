import type { Db } from './open-store.ts'

/** Runs `work` whole or not at all: in the transaction that `db` is, or in one of its own. */
export function inTransaction<T>(db: Db, work: (db: Db) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction().execute(work)
}
