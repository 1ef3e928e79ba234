import { randomInt } from 'node:crypto'
import { eventNumbersStore } from '../../store/event-numbers-store.ts'
import type { Store } from '../../store/open-store.ts'

/**
 * Identifies the history of event numbers: a restored or another store gives them to other events, but has
 * other marks.
 */
export interface EventMarks {
  /** Completes a number to an id with a few letters; undefined: the event is older than the marks. */
  of(seq: number): string | undefined
}

/** Prefix of rows in `counters`, followed by the first event number of the mark. */
const NAME = 'event_mark:'
/** Remembered server starts. A client further behind starts again. */
const MOST = 100
const LARGEST = 2 ** 31 - 1

/**
 * Reads the marks and adds one: call it at each start, before any write. A shared store has only its first
 * server's mark.
 */
export async function openEventMarks(store: Store): Promise<EventMarks> {
  const marks = await store.transaction(async (db) => {
    const from = store.isShared ? 1 : (await eventNumbersStore(db).last()) + 1
    const row = db.insertInto('counters').values({ name: `${NAME}${from}`, value: randomInt(1, LARGEST) })
    await row
      .onConflict((conflict) =>
        store.isShared
          ? conflict.doNothing()
          : // No event was written under it here, but perhaps before a restore.
            conflict.column('name').doUpdateSet((eb) => ({ value: eb.ref('excluded.value') })),
      )
      .execute()
    const rows = await db.selectFrom('counters').selectAll().where('name', 'like', `${NAME}%`).execute()
    const known = rows
      .map(({ name, value }) => ({ name, from: Number(name.slice(NAME.length)), mark: value.toString(36) }))
      .toSorted((a, b) => b.from - a.from)
    const old = known.slice(MOST).map(({ name }) => name)
    if (old.length > 0) await db.deleteFrom('counters').where('name', 'in', old).execute()
    return known.slice(0, MOST)
  })
  return { of: (seq) => marks.find(({ from }) => from <= seq)?.mark }
}
