import { eventNumbersStore, MOST_BEHIND } from '../../store/event-numbers-store.ts'
import { inTransaction } from '../../store/in-transaction.ts'
import type { Db } from '../../store/open-store.ts'

/** An object of which people see the present state: a database, or a node. */
export interface ObjectChange {
  readonly seq: number
  readonly topic: 'databases' | 'nodes'
  readonly uid: number
  /** Of a node: what was seen of it, as JSON. */
  readonly data: string | null
}

export interface ChangesStore {
  /** What people see of the object is different from now on. In the transaction of its change: both are written, or neither. */
  note(topic: ObjectChange['topic'], uid: number, data?: string): Promise<void>
  /** The database is gone. */
  noteRemoved(uid: number): Promise<void>
  /** The last changes after one place and up to another, in order. */
  between(after: number, upTo: number, limit: number): Promise<readonly ObjectChange[]>
  /** The last change of each node. */
  nodes(): Promise<readonly ObjectChange[]>
}

const REMOVED = 'removed'

/** The last change of each object, through `db`, which may be a transaction. An object that changes often has one row. */
export function changesStore(db: Db): ChangesStore {
  const write = (topic: ObjectChange['topic'], uid: number, data: string | null) =>
    inTransaction(db, async (within) => {
      const seq = await eventNumbersStore(within).next()
      await within
        .insertInto('changes')
        .values({ topic, object_uid: uid, seq, data })
        .onConflict((conflict) => conflict.columns(['topic', 'object_uid']).doUpdateSet({ seq, data }))
        .execute()
      return seq
    })
  return {
    async note(topic, uid, data) {
      await write(topic, uid, data ?? null)
    },
    async noteRemoved(uid) {
      const seq = await write('databases', uid, REMOVED)
      await db
        .deleteFrom('changes')
        .where('seq', '<', seq - MOST_BEHIND)
        .where('data', '=', REMOVED)
        .execute()
    },
    async between(after, upTo, limit) {
      const query = db.selectFrom('changes').selectAll().where('seq', '>', after).where('seq', '<=', upTo)
      return (await query.orderBy('seq').limit(limit).execute()).map(fromRow)
    },
    async nodes() {
      return (await db.selectFrom('changes').selectAll().where('topic', '=', 'nodes').execute()).map(fromRow)
    },
  }
}

function fromRow(row: {
  readonly topic: string
  readonly object_uid: number
  readonly seq: number
  readonly data: string | null
}): ObjectChange {
  const topic = row.topic === 'nodes' ? 'nodes' : 'databases'
  return { seq: row.seq, topic, uid: row.object_uid, data: row.data }
}
