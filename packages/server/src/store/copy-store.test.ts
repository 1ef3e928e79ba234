import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testStorePlace } from '../../test/open-test-store.ts'
import { databaseOf, shardOf } from '../../test/records.ts'
import { actionsStore } from '../actions/actions-store.ts'
import { auditStore } from '../audit/audit-store.ts'
import { fairlead } from '../core/identity/audit-record.ts'
import { steadyGoal } from '../core/state/database.ts'
import { databasesStore } from '../databases/databases-store.ts'
import { shardsStore } from '../databases/shards-store.ts'
import { copyStore } from './copy-store.ts'
import { openEmbedded } from './open-embedded.ts'
import { openStore, type Store } from './open-store.ts'
import { createSecretBox } from './secret-box.ts'

test('a cluster goes on in PostgreSQL with all that it had: rows, seals, the chain of the audit; and only into an empty one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-copy-'))
  try {
    const box = createSecretBox(Buffer.alloc(32, 7))
    await using near = await openEmbedded(join(folder, 'store.db'), () => box)
    await fill(near)
    await using far = await openStore(await testStorePlace(':memory:'), () => box)
    expect(await copyStore(near, far)).toBeGreaterThan(600)
    for (const table of [
      'audit',
      'databases',
      'groups',
      'shards',
      'actions',
      'action_events',
      'roles',
    ] as const) {
      const [here, there] = [near, far].map(({ db }) => db.selectFrom(table).selectAll().execute())
      expect(new Set(await there), table).toEqual(new Set(await here))
    }
    expect(await auditStore(far.db).lastNumber()).toBe(600)
    await expect(copyStore(near, far)).rejects.toThrow('in use')
  } finally {
    await rm(folder, { recursive: true })
  }
})

const now = '2026-11-21T12:00:00.000Z'

async function fill(store: Store): Promise<void> {
  await store.transaction(async (db) => {
    const database = databaseOf({ name: 'orders' })
    const { uid } = await databasesStore(db).insert({ ...database, groups: 1 })
    await shardsStore(db).insert(shardOf(0, { databaseUid: uid, port: 10_001 }), now)
    const action = { uid: 'a', databaseUid: uid, kind: 'upgrade', goal: steadyGoal(database) } as const
    await actionsStore(db).insert(action, now)
    for (let n = 0; n < 600; n += 1)
      await auditStore(db).append({ type: 'bdb_updated', by: fairlead, databaseUid: uid }, now)
  })
}
