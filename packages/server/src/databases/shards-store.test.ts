import { expect, test } from 'vitest'
import { openTestStore } from '../../test/open-test-store.ts'
import { databaseOf, shardOf } from '../../test/records.ts'
import { databasesStore } from './databases-store.ts'
import { shardsStore } from './shards-store.ts'

test('memory beyond 2 GiB is kept as it is, and added up, of databases and of reservations', async () => {
  await using store = await openTestStore(':memory:')
  const bytes = 3 * 2 ** 40
  const { uid } = await databasesStore(store.db).insert({
    ...databaseOf({ name: 'large', memoryBytes: bytes }),
    groups: 1,
  })
  for (const port of [10_001, 10_002])
    await shardsStore(store.db).insert(
      shardOf(0, { databaseUid: uid, port, reservedBytes: bytes }),
      '2026-11-21T12:00:00.000Z',
    )
  expect((await databasesStore(store.db).get(uid))?.memoryBytes).toBe(bytes)
  expect(await shardsStore(store.db).reservedBytes()).toBe(2 * bytes)
})
