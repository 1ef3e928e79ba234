import { nextId } from '../../store/next-id.ts'
import type { Db } from '../../store/open-store.ts'

/** Which databases have new orders of users: the server that holds a database may be another one than the server that took the order. */
export interface DatabaseOrdersStore {
  /** A user has given an order for it: the server that holds it has to look. Call it in the transaction of the order. */
  note(databaseUid: number): Promise<void>
  /** Databases with orders after number `seq`, in the order of their numbers. */
  orderedAfter(seq: number): Promise<readonly { readonly uid: number; readonly seq: number }[]>
  /** The uid that was given to a database last; 0 before the first. */
  lastUid(): Promise<number>
}

/** The column `seq` of `databases`, through `db`, which may be a transaction. */
export function databaseOrdersStore(db: Db): DatabaseOrdersStore {
  return {
    async note(databaseUid) {
      const seq = await nextId(db, 'database_change')
      await db.updateTable('databases').set({ seq }).where('uid', '=', databaseUid).execute()
    },
    orderedAfter: (seq) =>
      db.selectFrom('databases').select(['uid', 'seq']).where('seq', '>', seq).orderBy('seq').execute(),
    async lastUid() {
      const row = db.selectFrom('counters').select('value').where('name', '=', 'database')
      return (await row.executeTakeFirst())?.value ?? 0
    },
  }
}
