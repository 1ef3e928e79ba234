import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { fairlead } from '../../../packages/server/src/core/identity/audit-record.ts'
import { steadyGoal } from '../../../packages/server/src/core/state/database.ts'
import { actionsStore } from '../../../packages/server/src/fleet/stores/actions-store.ts'
import { databasesStore } from '../../../packages/server/src/fleet/stores/databases-store.ts'
import { shardsStore } from '../../../packages/server/src/fleet/stores/shards-store.ts'
import { auditStore } from '../../../packages/server/src/identity/stores/audit-store.ts'
import { copiedTables, copyStore } from '../../../packages/server/src/store/copy-store.ts'
import { openEmbedded } from '../../../packages/server/src/store/open-embedded.ts'
import { openStore, type Store, type StorePlace } from '../../../packages/server/src/store/open-store.ts'
import { createSecretBox } from '../../../packages/server/src/store/secret-box.ts'
import { tamperWith, testStorePlace } from '../../../packages/server/test/open-test-store.ts'
import { databaseOf, shardOf } from '../../../packages/server/test/records.ts'

const now = '2026-11-21T12:00:00.000Z'
const folder = mkdtempSync(join(tmpdir(), 'fairlead-copy-'))
const box = createSecretBox(Buffer.alloc(32, 7))
let place: StorePlace
let near: Store
let far: Store
beforeEach(async () => {
  place = await testStorePlace(':memory:')
  near = await openEmbedded(join(folder, `${randomBytes(4).toString('hex')}.db`), () => box)
  far = await openStore(place, () => box)
  await fill(near)
  return async () => {
    await near[Symbol.asyncDispose]()
    await far[Symbol.asyncDispose]()
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

test('a cluster continues in PostgreSQL with every row of every table, sealed as before, and a second copy is the same', async () => {
  const rows = await copyStore(near, far)
  expect(rows).toBeGreaterThan(1_200)
  expect(await everythingOf(far)).toEqual(await everythingOf(near))
  expect((await databasesStore(far.db).get(1))?.adminPassword).toBe('admin')
  expect(await auditStore(far.db).lastNumber()).toBe(1_200)
  // Of the run before, no answer has come.
  expect(await copyStore(near, far)).toBe(rows)
  expect(await everythingOf(far)).toEqual(await everythingOf(near))
})

test('a text with the character NUL, which an earlier embedded store took from an engine, does not keep the rest from PostgreSQL', async () => {
  await sql`update actions set waiting_for = 'a' || char(0) || 'b'`.execute(near.db)
  const rows = await copyStore(near, far)
  expect(await copyStore(near, far)).toBe(rows)
  const copied = await far.db.selectFrom('actions').select('waiting_for').execute()
  expect(copied.map(({ waiting_for }) => waiting_for)).toContain('a\ufffdb')
})

test('no table is forgotten', async () => {
  const { rows } = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(
    near.db,
  )
  const ours = rows.map(({ name }) => name).filter((name) => !/^(kysely|sqlite)_/.test(name))
  expect([...copiedTables, 'buckets', 'servers'].toSorted()).toEqual(ours.toSorted())
})

test('a database that is in use, with data of a person or by a server, is not changed', async () => {
  await sql`insert into servers values ('host:1', extract(epoch from clock_timestamp()) * 1000)`.execute(
    far.db,
  )
  await expect(copyStore(near, far)).rejects.toThrow('a server (host:1) uses')
  await sql`delete from servers`.execute(far.db)
  await copyStore(near, far)
  await auditStore(far.db).append({ type: 'bdb_updated', by: fairlead }, now)
  const before = await everythingOf(far)
  await expect(copyStore(near, far)).rejects.toThrow('in use')
  expect(await everythingOf(far)).toEqual(before)
})

test('if one field does not arrive unchanged, nothing is copied', async () => {
  await tamperWith(
    place,
    `create function spoil() returns trigger language plpgsql as
      $$ begin new.details = '{"n":0}'; return new; end $$;
     create trigger spoil before insert on audit for each row when (new.seq = 777) execute function spoil()`,
  )
  await expect(copyStore(near, far)).rejects.toThrow('1200 of 1200 rows')
  expect(await far.db.selectFrom('databases').select('uid').execute()).toEqual([])
})

/** Each row of each table as it lies there, as text, in no order. */
async function everythingOf(store: Store): Promise<Record<string, readonly string[]>> {
  const found: Record<string, readonly string[]> = {}
  for (const table of copiedTables) {
    const all = await store.db.withoutPlugins().selectFrom(table).selectAll().execute()
    const rows = all.filter((row) => !('name' in row && String(row.name).startsWith('commit:')))
    found[table] = rows
      .map((row) => JSON.stringify(Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1))))
      .toSorted()
  }
  return found
}

/** Of each table something, and of the audit more than a page. */
async function fill(store: Store): Promise<void> {
  await store.transaction(async (db) => {
    const database = databaseOf({ name: 'orders', memoryBytes: 3 * 2 ** 40 })
    const { uid } = await databasesStore(db).insert({ ...database, groups: 1 })
    await shardsStore(db).insert(
      shardOf(0, { databaseUid: uid, port: 10_001, reservedBytes: 3 * 2 ** 30 }),
      now,
    )
    const action = { uid: 'a', databaseUid: uid, kind: 'upgrade', goal: steadyGoal(database) } as const
    await actionsStore(db).insert(action, now)
    for (let n = 0; n < 1_200; n += 1)
      await auditStore(db).append(
        { type: 'bdb_updated', by: fairlead, databaseUid: uid, details: { n } },
        now,
      )
  })
  // Whatever lies there is copied: also what this version would not write.
  for (const table of copiedTables) await fillWith(store, table)
}

/** A row of odd texts and large numbers, where the table is empty. */
async function fillWith({ db }: Store, table: string): Promise<void> {
  const some = await sql`select 1 from ${sql.table(table)} limit 1`.execute(db)
  if (some.rows.length > 0) return
  const columns = await sql<{
    name: string
    type: string
  }>`select name, lower(type) as type from pragma_table_info(${table})`.execute(db)
  const values = columns.rows.map(({ name, type }) => {
    if (type === 'bigint') return 2 ** 52
    if (type !== 'integer') return `sealed "${name}" \\ Übung 🚀\n'`
    return name.endsWith('uid') ? 1 : 3
  })
  await sql`insert into ${sql.table(table)} values (${sql.join(values)})`.execute(db)
}
