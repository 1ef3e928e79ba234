import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { databasesStore } from '../../../../src/fleet/stores/databases-store.ts'
import { openTestStore, tamperWith, testStorePlace } from '../../../open-test-store.ts'
import { databaseOf } from '../../../records.ts'

const folder = mkdtempSync(join(tmpdir(), 'fairlead-earlier-stores-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Takes back the migrations since. */
const undo = [
  'drop table former_access',
  'drop table roles_permissions',
  'drop table acls',
  "delete from counters where name = 'acl'",
  'alter table databases drop column default_user',
  'alter table passwords drop column password_sha256',
].join('; ')

/** A store with a database and the first schema, which has noted these migrations. */
async function earlierStore(name: string, migrations: readonly string[]): Promise<string> {
  const file = join(folder, name)
  const store = await openTestStore(file)
  await databasesStore(store.db).insert({ ...databaseOf({ name: 'orders' }), groups: 1 })
  await store[Symbol.asyncDispose]()
  const rows = migrations.map((one) => `('${one}', '2026-11-20T12:00:00.000Z')`).join()
  await tamperWith(
    await testStorePlace(file),
    `${undo}; delete from kysely_migration; insert into kysely_migration (name, timestamp) values ${rows}`,
  )
  return file
}

const all = ['0001-init', '0002-users-and-roles', '0029-no-statistics', '0030-audit-in-one-chain']

test('a store with the migrations from before they became one is used as it is, and stays so', async () => {
  const file = await earlierStore('all.db', all)
  for (let start = 0; start < 2; start += 1) {
    await using store = await openTestStore(file)
    expect(await databasesStore(store.db).get(1)).toMatchObject({ name: 'orders' })
  }
})

test('a store that lacks some of them is refused with the way to bring it up to date, and not changed', async () => {
  const file = await earlierStore('some.db', all.slice(0, 3))
  for (let start = 0; start < 2; start += 1)
    await expect(openTestStore(file)).rejects.toThrow(/before 29 November 2026 \(0029-no-statistics\)/)
})

test('a store with a later migration is refused, and forgets none', async () => {
  const file = await earlierStore('later.db', ['0001-schema', '0002-of-a-newer-one'])
  for (let start = 0; start < 2; start += 1)
    await expect(openTestStore(file)).rejects.toThrow(/0002-of-a-newer-one is missing/)
})
