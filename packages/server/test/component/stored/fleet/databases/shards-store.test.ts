import { expect, test } from 'vitest'
import { databasesStore } from '../../../../../src/fleet/stores/databases-store.ts'
import { shardsStore } from '../../../../../src/fleet/stores/shards-store.ts'
import { openTestStore } from '../../../../open-test-store.ts'
import { databaseOf, shardOf } from '../../../../records.ts'

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
