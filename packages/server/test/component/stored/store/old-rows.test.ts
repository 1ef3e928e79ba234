import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fairlead } from '../../../../src/core/identity/audit-record.ts'
import type { LaneRecord } from '../../../../src/core/state/lane-record.ts'
import { actionLanesStore } from '../../../../src/fleet/stores/action-lanes-store.ts'
import { actionsStore } from '../../../../src/fleet/stores/actions-store.ts'
import { databasesStore } from '../../../../src/fleet/stores/databases-store.ts'
import { shardsStore } from '../../../../src/fleet/stores/shards-store.ts'
import { verifyAudit } from '../../../../src/identity/audit/verify-audit.ts'
import { auditStore } from '../../../../src/identity/stores/audit-store.ts'
import { usersStore } from '../../../../src/identity/stores/users-store.ts'
import type { Db, Store } from '../../../../src/store/open-store.ts'
import { openTestStore, testStorePlace, withOldStore } from '../../../open-test-store.ts'

/*
 * Effects of migrations on existing rows: a store after the fifth migration, with users, databases, shards
 * and actions, goes through all later ones, on both kinds of store. Earlier ones are tested in
 * migrations.test.ts.
 */

const at = '2026-11-20T12:00:00.000Z'
const ended = '2026-11-20T12:05:00.000Z'
const runs = { build: { flavour: 'redis', version: '7.0.15' }, restartNonce: 0, modules: [] }
const goal = JSON.stringify({
  kind: 'keep',
  undo: false,
  ...runs,
  build: { flavour: 'valkey', version: '8.1.1' },
  replicas: 1,
  persistence: 'disabled',
  preserveRoles: false,
  from: runs,
  groups: 1,
  cluster: false,
  homes: [1],
  discard: false,
  inPlace: false,
  policy: { parallel: 0, canary: true, supervised: false, rollbackWindow: 0 },
})
/** By the words that earlier versions wrote. */
const actions = [
  ['queued', 1, 'queued', 0, null],
  ['running', 2, 'running', 40, null],
  ['done', 1, 'done', 90, null],
  ['failed', 1, 'failed', 30, 'no room'],
  ['cancelled', 1, 'failed', 30, 'cancelled before the handover; asked for by mia'],
  ['rolled back', 1, 'failed', 80, 'rolled back after the handover; asked for by mia'],
] as const

const folder = mkdtempSync(join(tmpdir(), 'fairlead-old-rows-'))
let store: Store
beforeAll(async () => {
  const place = await testStorePlace(join(folder, 'store.db'))
  await withOldStore(place, 5, async (db) => {
    for (const [uid, name, cluster] of [
      [1, 'plain', 0],
      [2, 'sharded', 1],
    ] as const) {
      await sql`insert into databases (uid, name, status, flavour, version, restart_nonce, memory_bytes, replicas, persistence, aof_fsync, snapshots,
        eviction_policy, admin_password, user_password, created_at, changed_at, cluster) values (${uid}, ${name}, 'active', 'redis', '7.0.15', 0, 5, 1,
        'disabled', 'everysec', '[]', 'noeviction', 'a', 'b', ${at}, ${at}, ${cluster})`.execute(db)
      await sql`insert into groups (database_uid, number, first_slot, last_slot, primary_shard, history_replid, history_offset)
        values (${uid}, 0, 0, 16383, ${uid}, 'replid', 77)`.execute(db)
      await sql`insert into shards (id, database_uid, node_uid, host, port, flavour, version, restart_nonce, leaving, created_at, reserved_bytes)
        values (${uid}, ${uid}, 1, '127.0.0.1', ${10_000 + uid}, 'redis', '7.0.15', 0, 0, ${at}, 1000)`.execute(
        db,
      )
    }
    for (const [uid, database, status, progress, error] of actions)
      await sql`insert into actions (uid, database_uid, kind, status, goal, asked, progress, step, waiting_for, needs_person, pending, error, created_at,
        changed_at) values (${uid}, ${database}, 'upgrade', ${status}, ${goal}, ${goal}, ${progress}, 'follow', 'a reason', 0, '[]', ${error}, ${at},
        ${ended})`.execute(db)
    await sql`insert into users (uid, name, created_at, changed_at, failures) values (1, 'mia', ${at}, ${at}, 3)`.execute(
      db,
    )
    await sql`insert into handovers (id, database_uid, action_uid, from_shard, to_shard, full_syncs_before, intended_at, released, closed)
      values (1, 2, 'running', 2, 3, '{}', ${at}, 0, 0)`.execute(db)
    await sql`insert into modules (uid, name, semantic_version, sha256, size_bytes, manifest, created_at)
      values ('m', 'bf', '1.0.0', 'a', 10, '{}', ${at})`.execute(db)
  })
  store = await openTestStore(join(folder, 'store.db'))
})
afterAll(async () => {
  await store[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const database = async (uid: number) => {
  const found = await databasesStore(store.db).get(uid)
  if (found === undefined) throw new Error(`no database ${uid}`)
  return found
}

describe('a database from before', () => {
  test('0006: has no port yet, and its clients know its shards where it is sharded', async () => {
    expect(await database(1)).toMatchObject({ endpointPort: null, clientsKnowShards: false })
    expect(await database(2)).toMatchObject({ endpointPort: null, clientsKnowShards: true })
  })

  test('0007, 0010: speaks no TLS, with clients and between shards; there are no certificates yet', async () => {
    expect(await database(2)).toMatchObject({ tls: false, shardTls: false })
    expect(await shardsStore(store.db).listOf(2)).toMatchObject([{ tlsPort: null }])
    expect(await store.db.selectFrom('tls_certificates').selectAll().execute()).toEqual([])
  })

  test('0008, 0015: keeps its history, which names no process and none before it', async () => {
    const [group] = (await database(1)).groups
    expect(group?.history).toMatchObject({ replid: 'replid', offset: 77, runId: null })
    expect(group?.history?.before ?? null).toBe(null)
  })

  test('0009: has no obstacle', async () => {
    expect((await database(1)).obstacle).toBe(null)
  })

  test('0013, 0019: has shards without a limit to put back, and as much memory may be reserved as there is', async () => {
    const shards = shardsStore(store.db)
    expect(await shards.limitBefore(1)).toBe(null)
    expect(await shards.reservedBytes()).toBe(2_000)
    const much = 5 * 2 ** 30
    await store.db.updateTable('shards').set({ reserved_bytes: much }).where('id', '=', 1).execute()
    expect(await shards.reservedBytes()).toBe(much + 1_000)
    await store.db.updateTable('modules').set({ size_bytes: much }).execute()
    expect(await store.db.selectFrom('modules').select('size_bytes').execute()).toEqual([
      { size_bytes: much },
    ])
  })

  test('0016: is of a bucket that no server works on, and has not changed since', async () => {
    const buckets = await store.db.selectFrom('buckets').selectAll().execute()
    expect(buckets.length).toBe(257)
    expect(new Set(buckets.map(({ holder, epoch }) => `${holder} ${epoch}`))).toEqual(new Set(['null 0']))
    expect(await store.db.selectFrom('databases').select('seq').execute()).toEqual([{ seq: 0 }, { seq: 0 }])
  })

  test('0017, 0018: is found with what belongs to it', async () => {
    const shards = shardsStore(store.db)
    expect(await shards.idsOf([2])).toEqual([2])
    expect(await shards.portsWithin({ from: 10_002, to: 10_002 })).toEqual([10_002])
  })
})

test('0011, 0020: a user from before is locked by no source, and has the alerts of the wider API', async () => {
  expect(await store.db.selectFrom('login_lanes').selectAll().execute()).toEqual([])
  expect(await usersStore(store.db).get(1)).toMatchObject({
    name: 'mia',
    alerts: { email: true, cluster: true, databases: [] },
  })
})

test('0030: an audit of which records were moved into files is verified from there', async () => {
  const place = await testStorePlace(join(folder, 'sealed.db'))
  await withOldStore(place, 28, async (old) => {
    const db = old as Db // these tables have not changed since
    const append = (type: 'audit_sealed' | 'user_created', details: Record<string, string | number>) =>
      auditStore(db).append({ type, by: fairlead, details }, at)
    for (let user = 1; user <= 20; user += 1) await append('user_created', { user })
    const end = await auditStore(db).get(15)
    await sql`insert into audit_segments (first_seq, last_seq, previous, head, file, sha256, bytes, sealed_at)
      values (1, 15, ${'0'.repeat(64)}, ${end?.hash}, 'records-1-15.jsonl.gz', 'a', 1, ${at})`.execute(db)
    await auditStore(db).removeUpTo(15)
    await append('audit_sealed', { first: 1, last: 15, file: 'records-1-15.jsonl.gz', sha256: 'a' })
  })
  await using sealed = await openTestStore(join(folder, 'sealed.db'))
  expect(await verifyAudit(sealed.db)).toMatchObject({ records: 21, removed: 15, fault: undefined })
  await sealed.db.deleteFrom('audit').where('seq', '=', 16).execute()
  expect((await verifyAudit(sealed.db)).fault).toBe('record 16 is missing')
})

describe('an action from before', () => {
  const get = async (uid: string) => {
    const found = await actionsStore(store.db).get(uid)
    if (found === undefined) throw new Error(`no action ${uid}`)
    return found
  }

  test('0014: has no reason to wait but its sentence', async () => {
    expect(await get('running')).toMatchObject({ holdReason: null, waitingFor: 'a reason' })
  })

  test.each([
    ['queued', { phase: 'queued', beganAt: null, endedAt: null, ending: null, progress: 0 }],
    ['running', { phase: 'preparing', beganAt: at, endedAt: null, ending: null, progress: 40 }],
    ['done', { phase: 'ended', beganAt: at, endedAt: ended, ending: null, progress: 100 }],
    ['failed', { phase: 'ended', beganAt: at, endedAt: ended, ending: 'failed', progress: 100 }],
    ['cancelled', { phase: 'ended', endedAt: ended, ending: 'cancelled', progress: 100 }],
    ['rolled back', { phase: 'ended', endedAt: ended, ending: 'rolled_back', progress: 100 }],
  ] as const)('0022: %s: has its phase, its times and its end', async (uid, expected) => {
    expect(await get(uid)).toMatchObject({
      ...expected,
      waiting: null,
      handingOver: false,
      request: null,
      requestedBy: null,
    })
    expect(await actionLanesStore(store.db).of(uid)).toEqual([])
  })

  test('0022, 0023: gets lanes and an end at its next turns, and is of no trace', async () => {
    expect((await get('running')).trace).toBe(undefined)
    const lane: LaneRecord = {
      group: 0,
      state: 'running',
      handedOver: false,
      waiting: null,
      steps: [],
      leftOut: 0,
      toCome: [],
      sync: null,
      lagBytes: 0,
    }
    await actionsStore(store.db).update('running', { lanes: [lane], handingOver: true }, ended)
    expect(await actionLanesStore(store.db).of('running')).toEqual([lane])
    expect(await get('running')).toMatchObject({ phase: 'handing_over' })
    await actionsStore(store.db).update('running', { status: 'done', handingOver: false }, ended)
    expect(await get('running')).toMatchObject({ phase: 'ended', beganAt: at, endedAt: ended })
  })
})
