import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite from 'better-sqlite3'
import { Kysely, SqliteDialect, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { actionEventsStore } from '../fleet/stores/action-events-store.ts'
import { actionsStore } from '../fleet/stores/actions-store.ts'
import { databasesStore } from '../fleet/stores/databases-store.ts'
import { handoversStore } from '../fleet/stores/handovers-store.ts'
import { modulesStore } from '../fleet/stores/modules-store.ts'
import { shardsStore } from '../fleet/stores/shards-store.ts'
import { passwordsStore } from '../identity/stores/passwords-store.ts'
import { settingsStore } from '../identity/stores/settings-store.ts'
import { signingKeysStore } from '../identity/stores/signing-keys-store.ts'
import { usersStore } from '../identity/stores/users-store.ts'
import * as init from './migrations/0001-init.ts'
import { openStore } from './open-store.ts'
import { createSecretBox } from './secret-box.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-migrations-'))
  file = join(folder, 'store.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const at = '2026-11-20T12:00:00.000Z'

/** A store as the first migration made it. */
async function openFirst(): Promise<Kysely<unknown>> {
  const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: new BetterSqlite(file) }) })
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: async () => ({ '0001-init': init }) },
  }).migrateToLatest()
  if (error !== undefined) throw error
  return db
}

test('users of a store from before there were roles keep their names, rights, passwords and tokens', async () => {
  const old = await openFirst()
  for (const [uid, name, role] of [
    [1, 'Admin', 'admin'],
    [2, 'viewer', 'db_viewer'],
  ] as const) {
    await sql`insert into users values (${uid}, ${name}, ${role}, ${`phc-${uid}`}, ${at}, ${at})`.execute(old)
  }
  await sql`insert into counters values ('user', 2)`.execute(old)
  await sql`insert into signing_keys values ('k', '{"kty":"OKP"}', ${at})`.execute(old)
  await old.destroy()

  await using store = await openStore(file)
  const users = usersStore(store.db)
  expect(
    (await users.list({ order: { by: 'uid', descending: false } })).map(({ uid, name, roleUids }) => [
      uid,
      name,
      roleUids,
    ]),
  ).toEqual([
    [1, 'Admin', [1]],
    [2, 'viewer', [5]],
  ])
  expect(await users.getByLogin('ADMIN')).toMatchObject({ uid: 1, disabled: false, tokenEpoch: 0 })
  expect(await passwordsStore(store.db).listOf(2)).toEqual([
    { id: 2, phc: 'phc-2', issuedMs: Date.parse(at) },
  ])
  expect((await settingsStore(store.db).get()).createdAt).toBe(at)
  await passwordsStore(store.db).insert(2, 'phc-3', at)
  expect((await passwordsStore(store.db).listOf(2)).map(({ id }) => id)).toEqual([2, 3])

  const keys = signingKeysStore(store.db, createSecretBox(randomBytes(32)))
  await keys.sealAll()
  expect(await keys.list()).toMatchObject([
    { kid: 'k', privateJwk: '{"kty":"OKP"}', activeMs: Date.parse(at) },
  ])
})

test('an empty store of that time has not been created yet', async () => {
  await (await openFirst()).destroy()
  await using store = await openStore(file)
  expect((await settingsStore(store.db).get()).createdAt).toBeNull()
  await passwordsStore(store.db).insert(1, 'phc', at)
})

test('actions of a store from before there were events begin theirs with what they are', async () => {
  const old = await openFirst()
  const goal = JSON.stringify({
    kind: 'keep',
    undo: true,
    build: { flavour: 'valkey', version: '8.1.1' },
    restartNonce: 0,
    replicas: 1,
    persistence: 'aof',
    home: 5,
    preserveRoles: true,
  })
  for (const [uid, status] of [
    ['a', 'running'],
    ['b', 'done'],
  ] as const) {
    await sql`insert into actions values (${uid}, 1, 'upgrade', ${status}, ${goal}, 40, 'follow', 'a reason', 1, '[]',
      'no room', ${at}, ${at})`.execute(old)
  }
  await old.destroy()

  await using store = await openStore(file)
  const events = actionEventsStore(store.db)
  const change = {
    status: 'running',
    progress: 40,
    step: 'follow',
    waitingFor: 'a reason',
    needsPerson: true,
    error: 'no room',
    undo: true,
  }
  expect(await events.listAfter('a', 0, 10)).toEqual([{ seq: 1, actionUid: 'a', at, type: 'action', change }])
  // What is waited for is noted anew in the next turn; until then it has no reason but its sentence.
  expect(await actionsStore(store.db).get('a')).toMatchObject({ holdReason: null, waitingFor: 'a reason' })
  await actionsStore(store.db).update('a', { holdReason: 'replication' }, at)
  expect(await actionsStore(store.db).get('a')).toMatchObject({ holdReason: 'replication' })
  await actionsStore(store.db).update('a', { status: 'failed' }, at)
  expect((await events.listAfter('a', 1, 10)).map(({ seq }) => seq)).toEqual([3, 4])
})

test('a database of that time has one group, and an upgrade that was running knows its way back', async () => {
  const old = await openFirst()
  await sql`insert into databases values (1, 'orders', 'changing', 'redis', '7.0.15', 2, 0, 1, 'aof', 'everysec', '[]',
    'noeviction', 'a', 'b', 5, 'replid', 77, ${at}, ${at})`.execute(old)
  await sql`insert into shards values (5, 1, 1, '127.0.0.1', 10000, 'redis', '7.0.15', 2, null, 0, ${at})`.execute(
    old,
  )
  const goal = {
    kind: 'keep',
    build: { flavour: 'valkey', version: '8.1.1' },
    restartNonce: 2,
    replicas: 1,
    persistence: 'aof',
    home: 5,
    preserveRoles: true,
    undo: false,
  }
  await sql`insert into actions values ('a', 1, 'upgrade', 'running', ${JSON.stringify(goal)}, 40, 'wait', '', 0, '[]',
    null, ${at}, ${at})`.execute(old)
  await sql`insert into handovers values (1, 1, 'a', 5, 6, '{}', ${at}, 0, null, 0)`.execute(old)
  await old.destroy()

  await using store = await openStore(file)
  expect(await databasesStore(store.db).get(1)).toMatchObject({
    cluster: false,
    tls: false,
    groups: [
      {
        number: 0,
        slots: { first: 0, last: 16_383 },
        primaryShard: 5,
        history: { replid: 'replid', offset: 77, runId: null },
      },
    ],
  })
  expect(await shardsStore(store.db).listOf(1)).toMatchObject([{ id: 5, group: 0, reservedBytes: 0 }])
  const { home: _home, ...kept } = goal
  expect(await actionsStore(store.db).get('a')).toMatchObject({
    goal: {
      ...kept,
      homes: [5],
      modules: [],
      from: { build: { flavour: 'redis', version: '7.0.15' }, restartNonce: 2, modules: [] },
    },
    asked: { homes: [5] },
    orders: { paused: false },
    handedOverAt: null,
  })
  expect(await modulesStore(store.db).list()).toEqual([])
  expect(await store.db.selectFrom('shards').select(['id', 'modules']).execute()).toEqual([
    { id: 5, modules: '[]' },
  ])
  // The old primary was not noted then: no process has that id, so no process matches.
  expect((await handoversStore(store.db).last(1)).get(0)).toMatchObject({
    closed: false,
    standby: { runId: '' },
  })
})
