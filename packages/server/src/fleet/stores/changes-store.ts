import { eventNumbersStore, MOST_BEHIND } from '../../store/event-numbers-store.ts'
import { inTransaction } from '../../store/in-transaction.ts'
import type { Db } from '../../store/open-store.ts'

/** A changed database or node. Only its latest state is visible. */
export interface ObjectChange {
  readonly seq: number
  readonly topic: 'databases' | 'nodes'
  readonly uid: number
  /** Observed state of a node, as JSON. */
  readonly data: string | null
}

const REMOVED = 'removed'

/** One row per object with its last change. `db` may be a transaction. */
export function changesStore(db: Db) {
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
    /** Records a visible change. Call it in the transaction of that change. */
    async note(topic: ObjectChange['topic'], uid: number, data?: string): Promise<void> {
      await write(topic, uid, data ?? null)
    },
    /** Records that the database was deleted. */
    async noteRemoved(uid: number): Promise<void> {
      const seq = await write('databases', uid, REMOVED)
      await db
        .deleteFrom('changes')
        .where('seq', '<', seq - MOST_BEHIND)
        .where('data', '=', REMOVED)
        .execute()
    },
    /** The last changes after one place and up to another, in order. */
    async between(after: number, upTo: number, limit: number): Promise<readonly ObjectChange[]> {
      const query = db.selectFrom('changes').selectAll().where('seq', '>', after).where('seq', '<=', upTo)
      return (await query.orderBy('seq').limit(limit).execute()).map(fromRow)
    },
    /** The last change of each node. */
    async nodes(): Promise<readonly ObjectChange[]> {
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
