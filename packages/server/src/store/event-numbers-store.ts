import { nextId } from './next-id.ts'
import type { Db } from './open-store.ts'

/** A reader that is further behind begins anew. What is older may be dropped without a note. */
export const MOST_BEHIND = 20_000

/** Places among all events of the cluster: those of actions, records of the audit, changes of databases and nodes. */
export interface EventNumbersStore {
  /**
   * The next place. Call it in the transaction of the event, before its row is written: places are committed in their order, because concurrent servers wait for each
   * other at the counter.
   */
  next(): Promise<number>
  /** The place of the newest event; 0: there was none. */
  last(): Promise<number>
  /** The last place of which an event was dropped: a reader that is not so far may miss some. */
  gone(): Promise<number>
  /** Notes that events up to this place were dropped. */
  noteGone(upTo: number): Promise<void>
}

/** The counter of these places. */
export const EVENT_COUNTER = 'action_event'
const GONE = 'event_gone'

/** Rows of `counters`, through `db`, which may be a transaction. */
export function eventNumbersStore(db: Db): EventNumbersStore {
  return {
    next: () => nextId(db, EVENT_COUNTER),
    last: () => readCounter(db, EVENT_COUNTER),
    gone: () => readCounter(db, GONE),
    async noteGone(upTo) {
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
