import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { steadyGoal } from '../core/state/database.ts'
import { ActiveActionExists, actionsStore } from '../fleet/stores/actions-store.ts'
import { databasesStore, type NewDatabase } from '../fleet/stores/databases-store.ts'
import { shardsStore } from '../fleet/stores/shards-store.ts'
import { nextId } from './next-id.ts'
import { openStore } from './open-store.ts'

const now = '2026-11-21T12:00:00.000Z'
const orders: NewDatabase = {
  name: 'orders',
  build: { flavour: 'valkey', version: '8.1.1' },
  restartNonce: 0,
  modules: [],
  clientsKnowShards: false,
  shardTls: true,
  tls: true,
  endpointPort: null,
  memoryBytes: 2 ** 40,
  groups: 2,
  cluster: true,
  replicas: 1,
  persistence: 'snapshot',
  aofFsync: 'everysec',
  snapshots: [{ secs: 60, writes: 1 }],
  evictionPolicy: 'noeviction',
  adminPassword: 'a',
  userPassword: 'b',
  createdAt: now,
}

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-store-'))
  file = join(folder, 'store.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('what was written is there after the store is opened again, and only its owner can read it', async () => {
  {
    await using store = await openStore(file)
    await databasesStore(store.db).insert(orders)
    await databasesStore(store.db).setHistory(1, 1, { replid: 'r', offset: 2 ** 41, runId: 'p' })
  }
  await using store = await openStore(file)
  expect(await databasesStore(store.db).get(1)).toMatchObject({
    ...orders,
    uid: 1,
    groups: [
      { number: 0, slots: { first: 0, last: 8_191 }, primaryShard: null, history: null },
      {
        number: 1,
        slots: { first: 8_192, last: 16_383 },
        primaryShard: null,
        history: { replid: 'r', offset: 2 ** 41, runId: 'p' },
      },
    ],
  })
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('neither the store nor what SQLite writes beside it can be read by others, whatever the umask and what an earlier version left', async () => {
  const before = process.umask(0)
  try {
    for (const left of [[], [file, `${file}-wal`]]) {
      for (const each of left) chmodSync(each, 0o644)
      const store = await openStore(file)
      await databasesStore(store.db).insert({ ...orders, name: `orders ${left.length}` })
      const modes = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777])
      expect(modes).toEqual([
        ['store.db', 0o600],
        ['store.db-wal', 0o600],
        ['store.key', 0o600],
      ])
      // As a crash leaves it.
      const wal = readFileSync(`${file}-wal`)
      await store[Symbol.asyncDispose]()
      writeFileSync(`${file}-wal`, wal)
    }
  } finally {
    process.umask(before)
  }
})

test('a second server on the same file is refused, until the first has closed it', async () => {
  {
    await using _first = await openStore(file)
    await expect(openStore(file)).rejects.toThrow(`another Fairlead server runs on ${file}`)
  }
  await using again = await openStore(file)
  expect(await databasesStore(again.db).listReserved()).toEqual([])
})

test('a store that a newer Fairlead wrote is refused', async () => {
  {
    await using store = await openStore(file)
    await sql`insert into kysely_migration (name, timestamp) values ('9999-future', ${now})`.execute(store.db)
  }
  await expect(openStore(file)).rejects.toThrow('does not fit this version of Fairlead')
})

// invariant: A database has one active change at a time.
test('one database has one active action: the store itself refuses a second', async () => {
  await using store = await openStore(file)
  const database = await databasesStore(store.db).insert(orders)
  const actions = actionsStore(store.db)
  const goal = steadyGoal(database)
  await actions.insert({ uid: 'first', databaseUid: 1, kind: 'create', goal }, now)
  await expect(actions.insert({ uid: 'second', databaseUid: 1, kind: 'upgrade', goal }, now)).rejects.toThrow(
    ActiveActionExists,
  )
  await actions.insert({ uid: 'elsewhere', databaseUid: 2, kind: 'create', goal }, now)

  await actions.update('first', { status: 'done' }, now)
  await actions.insert({ uid: 'third', databaseUid: 1, kind: 'upgrade', goal }, now)
  expect(await actions.active(1)).toMatchObject({ uid: 'third', status: 'queued', goal })
})

test('two shards of a node never share a port', async () => {
  await using store = await openStore(file)
  const { uid } = await databasesStore(store.db).insert(orders)
  const shard = {
    databaseUid: uid,
    group: 0,
    nodeUid: 1,
    host: '127.0.0.1',
    port: 10_000,
    tlsPort: null,
    runs: orders,
    follows: null,
    reservedBytes: 0,
  }
  await shardsStore(store.db).insert(shard, now)
  await expect(shardsStore(store.db).insert(shard, now)).rejects.toThrow(/UNIQUE/)
})

test('a transaction that throws leaves nothing, and an id is never given twice', async () => {
  await using store = await openStore(file)
  const failing = store.transaction(async (db) => {
    await databasesStore(db).insert(orders)
    throw new Error('half-way')
  })
  await expect(failing).rejects.toThrow('half-way')
  expect(await databasesStore(store.db).listReserved()).toEqual([])
  expect([
    await nextId(store.db, 'shard'),
    await nextId(store.db, 'shard'),
    await nextId(store.db, 'user'),
  ]).toEqual([1, 2, 1])
})
