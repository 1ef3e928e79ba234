import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { steadyGoal } from '../core/state/database.ts'
import type { Runs } from '../core/state/goal.ts'
import { actionsStore } from '../fleet/stores/actions-store.ts'
import { databasesStore, type NewDatabase } from '../fleet/stores/databases-store.ts'
import { modulesStore } from '../fleet/stores/modules-store.ts'
import { shardsStore } from '../fleet/stores/shards-store.ts'
import { openStore, type Store } from './open-store.ts'
import { sealAll } from './seal-all.ts'
import { createSecretBox } from './secret-box.ts'

const now = '2026-11-22T12:00:00.000Z'
const secrets = ['password-of-the-admin', 'password-of-the-user', 'argument-of-the-module']
const [adminPassword = '', userPassword = '', argument = ''] = secrets
const used = { uid: 'm1', name: 'tally', semanticVersion: '1.0.0', sha256: 'f'.repeat(64) }
const runs: Runs = {
  build: { flavour: 'valkey', version: '9.1.2' },
  restartNonce: 0,
  modules: [{ ...used, args: ['token', argument, 'sealed by hand'] }],
}
const database: NewDatabase = {
  ...runs,
  name: 'orders',
  clientsKnowShards: false,
  shardTls: false,
  tls: false,
  endpointPort: null,
  memoryBytes: 0,
  groups: 1,
  cluster: false,
  replicas: 0,
  persistence: 'disabled',
  aofFsync: 'everysec',
  snapshots: [],
  evictionPolicy: 'noeviction',
  adminPassword,
  userPassword,
  createdAt: now,
}

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-sealed-'))
  file = join(folder, 'store.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** The secrets that can be read in the files of the store without the key. */
function lyingOpen(): readonly string[] {
  const bytes = readdirSync(folder)
    .filter((name) => name.startsWith('store.db'))
    .map((name) => readFileSync(join(folder, name), 'latin1'))
  return secrets.filter((secret) => bytes.some((text) => text.includes(secret)))
}

/** With a database, a shard of it and an action, all with the secrets. */
async function fill({ db }: Store): Promise<void> {
  const created = await databasesStore(db).insert(database)
  const shard = {
    databaseUid: created.uid,
    group: 0,
    nodeUid: 1,
    host: '127.0.0.1',
    port: 10_000,
    tlsPort: null,
  }
  await shardsStore(db).insert({ ...shard, runs, follows: null, tlsPort: null, reservedBytes: 0 }, now)
  const goal = { ...steadyGoal(created), from: runs }
  await actionsStore(db).insert({ uid: 'a', databaseUid: created.uid, kind: 'upgrade', goal }, now)
  await databasesStore(db).setRuns(created.uid, runs, now)
  await actionsStore(db).update('a', { goal }, now)
}

async function expectAll({ db }: Store): Promise<void> {
  expect(await databasesStore(db).get(1)).toMatchObject({
    adminPassword,
    userPassword,
    modules: runs.modules,
  })
  expect(await shardsStore(db).listOf(1)).toMatchObject([{ runs }])
  const action = await actionsStore(db).active(1)
  expect(action).toMatchObject({ goal: { ...runs, from: runs }, asked: { from: runs } })
}

// invariant: A copy of the store alone opens no database.
test('secrets of databases are sealed in the store, and what reads it does not notice', async () => {
  {
    await using store = await openStore(file)
    await fill(store)
    await expectAll(store)
    expect(lyingOpen()).toEqual([])
    // The users of a module are found in the text of a row.
    expect(await modulesStore(store.db).usedBy(used.uid)).toEqual(['orders'])
  }
  expect(lyingOpen()).toEqual([])
  await using again = await openStore(file)
  await expectAll(again)
})

test('what an older Fairlead wrote is sealed, and nothing of it stays in the files', async () => {
  {
    await using store = await openStore(file)
    await fill(store)
  }
  const old = new BetterSqlite(file)
  old.prepare('update databases set admin_password = ?, user_password = ?').run(adminPassword, userPassword)
  for (const column of ['databases.modules', 'shards.modules', 'actions.goal', 'actions.asked']) {
    const [table = '', name = ''] = column.split('.')
    const { text } = old.prepare(`select ${name} as text from ${table}`).get() as { text: string }
    const args = JSON.stringify(runs.modules[0]?.args)
    old
      .prepare(`update ${table} set ${name} = ?`)
      .run(text.replaceAll(/"args":"[^"]*"/g, () => `"args":${args}`))
  }
  old.close()
  expect(lyingOpen()).toEqual(secrets)

  {
    await using store = await openStore(file)
    await expectAll(store)
    await sealAll(store)
    await expectAll(store)
    expect(lyingOpen()).toEqual([])
    const before = store.changes()
    await sealAll(store)
    expect(store.changes()).toBe(before)
  }
  expect(lyingOpen()).toEqual([])
})

test('with another key nothing can be read, and nothing is lost', async () => {
  {
    await using store = await openStore(file)
    await fill(store)
  }
  {
    await using store = await openStore(file, () => createSecretBox(randomBytes(32)))
    await sealAll(store)
    await expect(databasesStore(store.db).get(1)).rejects.toThrow('the key is not the one')
  }
  await using store = await openStore(file)
  await expectAll(store)
})
