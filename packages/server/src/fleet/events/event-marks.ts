import { randomInt } from 'node:crypto'
import { eventNumbersStore } from '../../store/event-numbers-store.ts'
import type { Store } from '../../store/open-store.ts'

/**
 * Which history a place among all events belongs to. A store that was set back to an older state, and another store, give the same numbers to other events:
 * their marks differ.
 */
export interface EventMarks {
  /** A few letters, which go with the number as its id; undefined: the event is older than what is known of marks. */
  of(seq: number): string | undefined
}

/** The rows of `counters`, each from which place on it counts. */
const NAME = 'event_mark:'
/** As many starts of a server are remembered. A client that is further behind begins anew. */
const MOST = 100
const LARGEST = 2 ** 31 - 1

/** Reads the marks, and begins a new one: call it at each start, before anything is written. Servers that share a store share one, which the first of them makes. */
export async function openEventMarks(store: Store): Promise<EventMarks> {
  const marks = await store.transaction(async (db) => {
    const from = store.isShared ? 1 : (await eventNumbersStore(db).last()) + 1
    const row = db.insertInto('counters').values({ name: `${NAME}${from}`, value: randomInt(1, LARGEST) })
    await row
      .onConflict((conflict) =>
        store.isShared
          ? conflict.doNothing()
          : // Nothing was written under it in this store; in one that was set back to this state, there was.
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
