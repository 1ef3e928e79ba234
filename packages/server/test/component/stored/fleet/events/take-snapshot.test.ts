import { expect, test } from 'vitest'
import { onlyLoopback } from '../../../../../src/core/state/endpoint-reach.ts'
import type { ViewsQuery } from '../../../../../src/fleet/databases/databases-service.ts'
import { databasesStore } from '../../../../../src/fleet/stores/databases-store.ts'
import { takeSnapshot } from '../../../../../src/routes/stream/take-snapshot.ts'
import { openTestStore } from '../../../../open-test-store.ts'
import { databaseOf } from '../../../../records.ts'

const user = { uid: 1, name: 'admin', grants: [{ management: 'admin', databases: null }] } as const

test('a database that is deleted while a snapshot is read takes no other out of it', async () => {
  await using store = await openTestStore(':memory:')
  const stored = databasesStore(store.db)
  for (let n = 1; n <= 150; n += 1)
    await stored.insert({ ...databaseOf({ name: `one-${n}`, userPassword: 'the-user-secret' }), groups: 1 })
  const databases = {
    async list({ only, offset = 0, limit = 0, after }: ViewsQuery) {
      const page = await stored.page({ only, offset, limit, after })
      await stored.remove(1)
      return page.map((database) => ({ database, shards: [], action: undefined, reach: onlyLoopback }))
    },
  }
  const told = new Set<number>()
  const asked = { topics: new Set(['databases'] as const), database: undefined }
  for await (const event of takeSnapshot({ store, databases }, asked, user, 0))
    if (event.type === 'database') told.add(event.bdb_uid)
  expect(told.size).toBe(150)
})
