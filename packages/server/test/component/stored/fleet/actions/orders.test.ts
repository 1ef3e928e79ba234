import { expect, test } from 'vitest'
import type { Action } from '../../../../../src/core/state/action.ts'
import { type Database, steadyGoal } from '../../../../../src/core/state/database.ts'
import { wayBackClosed } from '../../../../../src/core/state/way-back.ts'
import { actionsStore } from '../../../../../src/fleet/stores/actions-store.ts'
import { databasesStore, type NewDatabase } from '../../../../../src/fleet/stores/databases-store.ts'
import { shardsStore } from '../../../../../src/fleet/stores/shards-store.ts'
import { storedRecords } from '../../../../../src/reconcile/records/stored-records.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../../control-plane.ts'

const at = '2026-11-21T12:00:00.000Z'
const now81 = { build: { flavour: 'valkey', version: '8.1.1' }, restartNonce: 0, modules: [] } as const
const then = { ...now81, build: { flavour: 'valkey', version: '8.0.1' } } as const
const sharded: NewDatabase = {
  ...then,
  name: 'sharded',
  clientsKnowShards: false,
  shardTls: false,
  tls: false,
  endpointPort: null,
  memoryBytes: 0,
  replicas: 0,
  persistence: 'disabled',
  aofFsync: 'everysec',
  snapshots: [],
  evictionPolicy: 'noeviction',
  groups: 2,
  cluster: true,
  createdAt: at,
  adminPassword: 'a-secret-of-ours',
  userPassword: 'a-secret-of-theirs',
}

test('an upgrade is finalized as soon as its last handover is on record, whatever its turn waits for; not before', async () => {
  await using fairlead = await startControlPlane()
  const auth = await fairlead.signIn('admin', adminPassword)
  const primaries = await beginUpgrade(fairlead)
  const handOver = (group: number) =>
    fairlead.withStore(async ({ db }) => databasesStore(db).setPrimary(1, group, primaries[group] ?? 0))
  const finalize = () => fairlead.send('POST', '/v1/actions/up/finalize', { auth })

  expect(await finalize()).toMatchObject({ status: 409, body: { error_code: 'order_not_applicable' } })
  await handOver(0)
  expect((await finalize()).status).toBe(409)
  await handOver(1)
  expect((await finalize()).status).toBe(200)
  await fairlead.withStore(async ({ db }) => {
    const action = await actionsStore(db).get('up')
    expect([action?.orders.finalize, typeof action?.handedOverAt]).toEqual([true, 'string'])
  })
  expect((await finalize()).status).toBe(409)
})

// invariant: A rollback that was accepted finds its standbys.
test('a rollback is refused from the moment on in which the last standby is given up, and keeps it if it was accepted before', async () => {
  await using fairlead = await startControlPlane()
  const auth = await fairlead.signIn('admin', adminPassword)
  const order = (name: 'rollback' | 'redo') => fairlead.send('POST', `/v1/actions/up/${name}`, { auth })
  const rollBack = () => order('rollback')
  const primaries = await beginUpgrade(fairlead)
  /** As a turn does that looked when the action was like this. */
  const giveUpStandby = (action: Action) =>
    fairlead.withStore(async (store) =>
      storedRecords(store).actions.closeWayBack(action, wayBackClosed('standby_gone', 'it goes'), at),
    )
  const seen = await fairlead.withStore(async ({ db }) => {
    for (const group of [0, 1]) await databasesStore(db).setPrimary(1, group, primaries[group] ?? 0)
    const wayBack = { eligible: true, obstacle: null, reason: 'every old primary is a standby' }
    await actionsStore(db).update('up', { wayBack, handedOverAt: at }, at)
    return actionsStore(db).get('up')
  })
  if (seen === undefined) throw new Error('there is no action')

  expect((await rollBack()).status).toBe(200)
  expect(await giveUpStandby(seen)).toBe(false)
  // As a client does that has lost the answer, or a second user.
  expect(await rollBack()).toMatchObject({ status: 409, body: { error_code: 'order_not_applicable' } })
  expect((await order('redo')).status).toBe(200)
  expect(await giveUpStandby(seen)).toBe(true)
  expect(await rollBack()).toMatchObject({
    status: 409,
    body: { error_code: 'rollback_not_possible' },
  })
})

test('a failed upgrade is begun again only while the database is what it was then', async () => {
  await using fairlead = await startControlPlane()
  const auth = await fairlead.signIn('admin', adminPassword)
  await beginUpgrade(fairlead)
  await fairlead.withStore(async ({ db }) => {
    await actionsStore(db).update('up', { status: 'failed' }, at)
    await databasesStore(db).setRuns(1, { ...then, restartNonce: 1 }, at)
  })
  const told = await fairlead.send('GET', '/v1/actions/up', { auth })
  expect(told.body).toMatchObject({ orders: { retry: { ok: false, error_code: 'order_not_applicable' } } })
  expect(await fairlead.send('POST', '/v1/actions/up/retry', { auth })).toMatchObject({
    status: 409,
    body: { error_code: 'order_not_applicable' },
  })
})

/** An upgrade of two groups under way: each has a shard that runs the target. Answers these. */
async function beginUpgrade(fairlead: TestControlPlane): Promise<readonly number[]> {
  const primaries: number[] = []
  await fairlead.withStore(async ({ db }) => {
    const database: Database = await databasesStore(db).insert(sharded)
    for (const [port, group] of [0, 0, 1, 1].entries()) {
      const runs = port % 2 === 0 ? then : now81
      const shard = {
        databaseUid: 1,
        group,
        nodeUid: 1,
        host: '127.0.0.1',
        port: 30_000 + port,
        tlsPort: null,
      }
      const { id } = await shardsStore(db).insert({ ...shard, runs, follows: null, reservedBytes: 0 }, at)
      if (runs === now81) primaries.push(id)
      else await databasesStore(db).setPrimary(1, group, id)
    }
    const goal = { ...steadyGoal(database), ...now81, from: then }
    await actionsStore(db).insert({ uid: 'up', databaseUid: 1, kind: 'upgrade', goal }, at)
    await actionsStore(db).update('up', { status: 'running', holdReason: 'cluster_view' }, at)
  })
  return primaries
}
