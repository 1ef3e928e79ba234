import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { steadyGoal } from '../../../src/core/state/database.ts'
import { actionsStore } from '../../../src/fleet/stores/actions-store.ts'
import { databasesStore } from '../../../src/fleet/stores/databases-store.ts'
import { handoversStore } from '../../../src/fleet/stores/handovers-store.ts'
import { shardsStore } from '../../../src/fleet/stores/shards-store.ts'
import { rolesStore } from '../../../src/identity/stores/roles-store.ts'
import { settingsStore } from '../../../src/identity/stores/settings-store.ts'
import { type Db, openStore, type Store } from '../../../src/store/open-store.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../control-plane.ts'
import { databaseOf, shardOf } from '../../records.ts'

const now = '2026-11-21T12:00:00.000Z'
const secret = 'a-secret-of-a-module'
const certificate = {
  from: 1,
  to: 2,
  replid: 'r',
  offsetFrom: 7,
  offsetTo: 7,
  keys: null,
  writeStopMs: 12,
  recovered: false,
  fullSyncs: null,
  at: now,
}

/** Two databases, each with a shard, an action and a handover. */
async function fill({ db, transaction }: Pick<Store, 'db' | 'transaction'>): Promise<void> {
  for (const uid of [1, 2]) {
    const database = databaseOf({ name: `orders-${uid}` })
    await databasesStore(db).insert({ ...database, groups: 1 })
    await transaction((within) =>
      shardsStore(within).insert(shardOf(0, { databaseUid: uid, port: uid }), now),
    )
    await actionsStore(db).insert(
      { uid: `action-${uid}`, databaseUid: uid, kind: 'upgrade', goal: steadyGoal(database) },
      now,
    )
    const standby = { shard: 1, runId: 'run', errorReplies: 0 }
    const roles = { group: 0, from: 1, to: 2, fullSyncsBefore: { 1: 0 }, standby }
    const handovers = handoversStore(db)
    const { id } = await handovers.intend({
      databaseUid: uid,
      actionUid: `action-${uid}`,
      intendedAt: now,
      ...roles,
    })
    await handovers.close(id, { ...certificate, heldMs: 14 }, now)
  }
}

const damages: readonly (readonly [table: string, column: string, row: string | number, damaged: string])[] =
  [
    ['databases', 'modules', 1, `[{"uid":"m","args":["${secret}"]`],
    ['databases', 'modules', 1, `[{"uid":"m","args":["${secret}"]}]`],
    ['databases', 'status', 1, 'activ'],
    ['databases', 'persistence', 1, 'none'],
    ['databases', 'aof_fsync', 1, ''],
    ['databases', 'snapshots', 1, '[{"secs":"60","writes":1}]'],
    ['shards', 'modules', 1, `{"args":"${secret}"}`],
    ['actions', 'goal', 'action-1', '{"kind":"keep"}'],
    ['actions', 'goal', 'action-1', 'null'],
    ['actions', 'asked', 'action-1', ''],
    ['actions', 'kind', 'action-1', 'update'],
    ['actions', 'orders', 'action-1', '{"paused":0}'],
    ['actions', 'way_back', 'action-1', '{}'],
    ['actions', 'warnings', 'action-1', '{}'],
    ['actions', 'step', 'action-1', 'dance'],
    ['actions', 'hold_reason', 'action-1', 'why'],
    ['actions', 'pending', 'action-1', '[1]'],
    ['handovers', 'certificate', 1, '{"from":1}'],
    ['handovers', 'standby', 1, '{}'],
    ['handovers', 'full_syncs_before', 1, '[]'],
  ]

function readOne(table: string, db: Db, uid: 1 | 2): Promise<unknown> {
  if (table === 'databases') return databasesStore(db).get(uid)
  if (table === 'shards') return shardsStore(db).listOf(uid)
  if (table === 'actions') return actionsStore(db).get(`action-${uid}`)
  return handoversStore(db).last(uid)
}

test.each(damages)(
  'the error of a damaged row names its place: %s, %s of row %s is %s',
  async (...damage) => {
    const [table, column, row, damaged] = damage
    await using store = await openStore(':memory:')
    await fill(store)
    const key = table === 'shards' || table === 'handovers' ? 'id' : 'uid'
    const [at, of] = [sql.ref(key), sql.table(table)]
    await sql`update ${of} set ${sql.ref(column)} = ${damaged} where ${at} = ${row}`.execute(store.db)

    const told = await readOne(table, store.db, 1).catch((cause: unknown) => cause)
    expect(told).toMatchObject({ name: 'CorruptColumn' })
    expect(String(told)).toContain(`in table ${table}, row ${row}, column ${column} `)
    expect(String(told)).not.toContain(secret)
    // What concerns all databases is read without it, and so is every other row.
    expect(await readOne(table, store.db, 2)).toBeTruthy()
    expect(await databasesStore(store.db).listReserved()).toHaveLength(2)
    expect(await shardsStore(store.db).list()).toHaveLength(2)
    expect(await actionsStore(store.db).listActive()).toHaveLength(2)
  },
)

test('roles and settings are told in the same way, and a certificate of before says neither how long clients were held nor how many keys there were', async () => {
  await using store = await openStore(':memory:')
  await fill(store)
  const { db } = store
  await sql`update roles set management = 'root' where uid = 2`.execute(db)
  await expect(rolesStore(db).get(2)).rejects.toThrow('in table roles, row 2, column management is none of')
  expect(await rolesStore(db).get(1)).toMatchObject({ management: 'admin' })
  await settingsStore(db).set({
    passwordDays: 3,
    lockout: { threshold: 0, resetAfterSeconds: 1, durationSeconds: 1 },
  })
  expect(await settingsStore(db).get()).toMatchObject({
    passwordDays: 3,
    lockout: { threshold: 0 },
    moduleUploadMb: 40,
  })
  await sql`update settings set value = '{"threshold":true}' where name = 'lockout'`.execute(db)
  await expect(settingsStore(db).get()).rejects.toThrow('in table settings, row lockout, column value ')
  await sql`update handovers set certificate = ${JSON.stringify(certificate)} where id = 1`.execute(db)
  expect((await handoversStore(db).last(1)).get(0)?.certificate).toEqual({ ...certificate, heldMs: null })
  const { keys: _, ...first } = certificate
  await sql`update handovers set certificate = ${JSON.stringify(first)} where id = 1`.execute(db)
  expect((await handoversStore(db).last(1)).get(0)?.certificate).toEqual({ ...certificate, heldMs: null })
})

// invariant: A damaged row affects only its database; the error names table, row and column.
test('a server whose store has a damaged row starts, says which row, and goes on with the other databases', async () => {
  await using fairlead = await startControlPlane()
  await fairlead.withStore(fill)
  await fairlead.tamper(`update databases set modules = '[{}]' where uid = 1`)
  const auth = await fairlead.signIn('admin', adminPassword)
  const get = (path: string) => fairlead.send('GET', path, { auth })
  expect((await get('/v1/bdbs/1')).status).toBe(500)
  expect(await get('/v1/bdbs/2')).toMatchObject({ status: 200, body: { name: 'orders-2' } })
  const place = 'in table databases, row 1, column modules does not hold what was written there: at /0'
  await expect.poll(() => turnsIn(fairlead, 1).join()).toContain(place)
  // Its turns go on as far as they can without an agent.
  await expect.poll(() => turnsIn(fairlead, 2).join()).toContain('agent')
  expect(turnsIn(fairlead, 2).join()).not.toContain('damaged')
})

/** What the server has logged of turns of this database. */
function turnsIn({ logged }: TestControlPlane, uid: number): readonly string[] {
  return logged.filter(
    (line) => line.includes(`"database":${uid},`) && line.includes('a turn failed and is tried again'),
  )
}

test('a way back of before obstacles had codes is read, without one', async () => {
  await using store = await openStore(':memory:')
  await fill(store)
  const before = { eligible: false, reason: 'it has ended' }
  const [text, uid] = [JSON.stringify(before), 'action-1']
  await sql`update actions set way_back = ${text} where uid = ${uid}`.execute(store.db)
  const action = await actionsStore(store.db).get(uid)
  expect(action?.wayBack).toEqual({ ...before, obstacle: null })
})
