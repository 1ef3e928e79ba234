import { nextId } from './next-id.ts'
import type { Db } from './open-store.ts'

/** A reader further behind starts again. Older events may be removed without a note. */
export const MOST_BEHIND = 20_000

/** The counter of these places. */
export const EVENT_COUNTER = 'action_event'
const GONE = 'event_gone'

/**
 * Places among all events of the cluster: of actions, audit records, changes of databases and nodes. Rows of
 * `counters`; `db` may be a transaction.
 */
export function eventNumbersStore(db: Db) {
  return {
    /**
     * Returns the next place. Call it in the event's transaction, before its row is written: servers wait at
     * the counter, so places commit in order.
     */
    next: () => nextId(db, EVENT_COUNTER),
    /** The place of the newest event; 0: none yet. */
    last: () => readCounter(db, EVENT_COUNTER),
    /** The last place of a removed event: earlier readers may have missed some. */
    gone: () => readCounter(db, GONE),
    /** Records that events up to this place were removed. */
    async noteGone(upTo: number): Promise<void> {
      if (upTo > (await readCounter(db, GONE))) await putCounter(db, GONE, upTo)
    },
  }
}

/** Returns the value of a row of `counters`; 0: there is none. */
export async function readCounter(db: Db, name: string): Promise<number> {
  const row = await db.selectFrom('counters').select('value').where('name', '=', name).executeTakeFirst()
  return row?.value ?? 0
}

/** Writes a row of `counters`. */
export async function putCounter(db: Db, name: string, value: number): Promise<void> {
  await db
    .insertInto('counters')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}
