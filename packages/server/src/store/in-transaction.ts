import type { Db } from './open-store.ts'

/** Runs `work` in the transaction `db`, or in a new one. */
export function inTransaction<T>(db: Db, work: (db: Db) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction().execute(work)
}
