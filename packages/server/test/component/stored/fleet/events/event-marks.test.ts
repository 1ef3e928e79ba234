import { expect, test } from 'vitest'
import { openEventMarks } from '../../../../../src/fleet/events/event-marks.ts'
import { eventNumbersStore } from '../../../../../src/store/event-numbers-store.ts'
import type { Store } from '../../../../../src/store/open-store.ts'
import { isOnPostgres, openTestStore } from '../../../../open-test-store.ts'

async function write({ transaction }: Store, events: number): Promise<void> {
  for (let n = 0; n < events; n += 1) await transaction((db) => eventNumbersStore(db).next())
}
const countersOf = ({ db }: Store) => db.selectFrom('counters').selectAll().execute()

test('an event keeps its mark over restarts of the server', async () => {
  await using store = await openTestStore(':memory:')
  const first = await openEventMarks(store)
  await write(store, 5)
  const second = await openEventMarks(store)
  await write(store, 5)
  const third = await openEventMarks(store)
  const all = [1, 5, 6, 10, 11]
  expect(all.map((seq) => third.of(seq)).slice(0, 4)).toEqual([
    ...all.slice(0, 4).map((seq) => second.of(seq)),
  ])
  expect(third.of(1)).toBe(first.of(1))
  for (const seq of all) expect(third.of(seq)).toMatch(/^[0-9a-z]{1,6}$/)
  // An id without a mark is one of a store that had no events.
  expect(third.of(0)).toBeUndefined()
})

test.skipIf(isOnPostgres)('a store that was set back gives the same numbers other marks', async () => {
  await using store = await openTestStore(':memory:')
  await openEventMarks(store)
  await write(store, 3)
  const backup = await countersOf(store)
  await write(store, 3)
  const before = await openEventMarks(store)
  await store.db.deleteFrom('counters').execute()
  await store.db.insertInto('counters').values(backup).execute()
  const after = await openEventMarks(store)
  await write(store, 3)
  expect(after.of(3)).toBe(before.of(3))
  for (const seq of [4, 5, 6]) expect(after.of(seq)).not.toBe(before.of(seq))
  // Set back once more, to the same state.
  await store.db.deleteFrom('counters').execute()
  await store.db.insertInto('counters').values(backup).execute()
  expect((await openEventMarks(store)).of(4)).not.toBe(after.of(4))
})

test('of many starts the last ones are remembered, and another store has other marks', async () => {
  await using store = await openTestStore(':memory:')
  await using other = await openTestStore(':memory:')
  await write(other, 1)
  for (let start = 0; start < 105; start += 1) {
    await openEventMarks(store)
    await write(store, 1)
  }
  const rows = (await countersOf(store)).filter(({ name }) => name.startsWith('event_mark:'))
  expect(rows).toHaveLength(store.isShared ? 1 : 100)
  const [marks, others] = [await openEventMarks(store), await openEventMarks(other)]
  expect(marks.of(105)).toBeDefined()
  expect(others.of(2)).not.toBe(marks.of(105))
})
