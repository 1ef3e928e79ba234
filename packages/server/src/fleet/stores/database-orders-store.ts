import { nextId } from '../../store/next-id.ts'
import type { Db } from '../../store/open-store.ts'

/**
 * Databases with new orders of users, whose server may differ from the one that accepted the order. The
 * column `seq` of `databases`; `db` may be a transaction.
 */
export function databaseOrdersStore(db: Db) {
  return {
    /** Makes the database's server read the order. Call it in the order's transaction. */
    async note(databaseUid: number): Promise<void> {
      const seq = await nextId(db, 'database_change')
      await db.updateTable('databases').set({ seq }).where('uid', '=', databaseUid).execute()
    },
    /** Databases with orders after number `seq`, in order. */
    orderedAfter: (seq: number) =>
      db.selectFrom('databases').select(['uid', 'seq']).where('seq', '>', seq).orderBy('seq').execute(),
    /** The last uid given to a database; 0 before the first. */
    async lastUid(): Promise<number> {
      const row = db.selectFrom('counters').select('value').where('name', '=', 'database')
      return (await row.executeTakeFirst())?.value ?? 0
    },
  }
}
