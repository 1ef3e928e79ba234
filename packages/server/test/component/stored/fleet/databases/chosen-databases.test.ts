import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient, fetchTransport, operations } from '@fairlead/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DatabasesOrder } from '../../../../../src/core/requests/list-order.ts'
import { chooseDatabases, databasesStore } from '../../../../../src/fleet/stores/databases-store.ts'
import { shardsStore } from '../../../../../src/fleet/stores/shards-store.ts'
import { writeCursor } from '../../../../../src/http/list-pages.ts'
import { adminPassword, basic, startControlPlane, type TestControlPlane } from '../../../../control-plane.ts'
import { isOnPostgres, openTestStore } from '../../../../open-test-store.ts'
import { databaseOf, shardOf } from '../../../../records.ts'
import { signInLimited } from '../../../../sign-in-limited.ts'
import { watchReads } from '../../../../watch-reads.ts'

const at = (minute: number) => `2026-11-21T12:0${minute}:00.000Z`
/** By uid from 1 on. */
const rows = [
  { name: 'orders', version: '8.1.1', flavour: 'valkey', memoryBytes: 300e9, status: 'active' },
  { name: 'carts', version: '8.1.10', flavour: 'valkey', memoryBytes: 2e6, status: 'active' },
  { name: 'Old_Orders', version: '7.0.15', flavour: 'redis', memoryBytes: 2e6, status: 'creation-failed' },
  { name: 'a-100', version: '8.1.1', flavour: 'redis', memoryBytes: 0, status: 'deleting' },
  {
    name: 'sessions',
    version: '8.0.2',
    flavour: 'valkey',
    memoryBytes: 2e6,
    status: 'active',
    obstacle: 'x',
  },
] as const

let running: TestControlPlane
let auth: string
let limited: string
beforeAll(async () => {
  running = await startControlPlane()
  await running.withStore(async ({ db }) => {
    for (const [n, { name, flavour, version, memoryBytes, status, ...rest }] of rows.entries()) {
      const one = { name, build: { flavour, version }, memoryBytes, createdAt: at(9 - n) }
      const { uid } = await databasesStore(db).insert({ ...databaseOf(one), groups: 1 })
      await databasesStore(db).setPrimary(uid, 0, 1)
      await databasesStore(db).setStatus(uid, status, at(n % 2))
      if ('obstacle' in rest) await databasesStore(db).setObstacle(uid, rest.obstacle)
    }
  })
  auth = await running.signIn('admin', adminPassword)
  limited = await signInLimited(running, auth, { management: 'db_viewer', uids: ['1', '3', '5'] })
})
afterAll(() => running[Symbol.asyncDispose]())

async function ask(query: string, who = auth) {
  const { status, body, headers } = await running.send('GET', `/v1/bdbs?${query}`, { auth: who })
  expect([query, status]).toEqual([query, 200])
  const uids = (body as unknown as { readonly uid: number }[]).map(({ uid }) => uid)
  return { uids, next: headers.get('x-next-cursor') }
}

test.each([
  ['q=order', [1, 3]],
  ['q=ORD', [1, 3]],
  ['q=_', [3]],
  ['q=%25', []],
  ['q=4', [4]],
  ['q=100', [4]],
  ['status=active', [1, 2]],
  ['status=recovery', [5]],
  ['status=delete-pending', [4]],
  ['status=creation-failed', [3]],
  ['status=pending', []],
  ['engine_version=8.1', [1, 2, 4]],
  ['engine_version=8.1.1', [1, 4]],
  ['engine_version=valkey-8.1', [1, 2]],
  ['engine_version=redis-7', [3]],
  ['q=o&engine_version=valkey-8.1&status=active', [1]],
])('%s chooses the databases %j', async (query, uids) => {
  expect((await ask(query)).uids).toEqual(uids)
})

test('in a window, databases are chosen and named by the engine that serves, and the record is beside it', async () => {
  await using window = await startControlPlane()
  await window.withStore(async ({ db }) => {
    const groups = 2
    const { uid } = await databasesStore(db).insert({ ...databaseOf({ name: 'window' }), groups })
    const runs = { build: { flavour: 'valkey', version: '8.1.1' }, restartNonce: 0, modules: [] }
    for (let group = 0; group < groups; group++) {
      const place = { databaseUid: uid, group, runs }
      const { id } = await shardsStore(db).insert(shardOf(1 + group, place), at(0))
      await databasesStore(db).setPrimary(uid, group, id)
    }
    await databasesStore(db).setStatus(uid, 'changing', at(1))
  })
  const basis = basic('admin', adminPassword)
  const read = async (query: string) =>
    (await window.send('GET', `/v1/bdbs?${query}`, { auth: basis })).body as unknown as readonly object[]
  expect(await read('engine_version=redis-7.0')).toEqual([])
  expect(await read('engine_version=valkey-8.1')).toMatchObject([
    {
      engine: 'valkey',
      engine_version: '8.1.1',
      version: '8.1.1',
      redis_version: '8.1',
      serving: [{ engine: 'valkey', engine_version: '8.1.1', primaries: 2 }],
      on_record: { engine: 'redis', engine_version: '7.0.15' },
    },
  ])
  const token = readFileSync(join(window.home, 'metrics.token'), 'utf8').trim()
  const metrics = await fetch(new URL('/metrics', window.url), {
    headers: { authorization: `Bearer ${token}` },
  })
  expect(await metrics.text()).toMatch(/fairlead_database_info\{[^}]*engine="valkey",[^}]*version="8.1.1"/)
})

test('while groups differ, a database is chosen by each build that serves', async () => {
  await using window = await startControlPlane()
  await window.withStore(async ({ db }) => {
    const { uid } = await databasesStore(db).insert({ ...databaseOf({ name: 'half' }), groups: 2 })
    for (const [group, version] of ['8.0.1', '8.1.1'].entries()) {
      const runs = { build: { flavour: 'valkey', version }, restartNonce: 0, modules: [] }
      const { id } = await shardsStore(db).insert(
        shardOf(1 + group, { databaseUid: uid, group, runs }),
        at(0),
      )
      await databasesStore(db).setPrimary(uid, group, id)
    }
    await databasesStore(db).setStatus(uid, 'changing', at(1))
  })
  const choose = async (version: string) => {
    const answer = await window.send('GET', `/v1/bdbs?engine_version=${version}`, {
      auth: basic('admin', adminPassword),
    })
    return (answer.body as unknown as readonly object[]).length
  }
  expect([await choose('8.0'), await choose('valkey-8.1'), await choose('redis-7.0')]).toEqual([1, 1, 0])
})

test.each([
  ['sort=uid', [1, 2, 3, 4, 5]],
  ['sort=-uid', [5, 4, 3, 2, 1]],
  ['sort=memory_size', [4, 2, 3, 5, 1]],
  ['sort=-memory_size', [1, 5, 3, 2, 4]],
  ['sort=created_time', [5, 4, 3, 2, 1]],
  ['sort=last_changed_time', [1, 3, 5, 2, 4]],
  ['sort=-last_changed_time', [4, 2, 5, 3, 1]],
])('%s is the order %j, also page by page', async (query, uids) => {
  expect((await ask(query)).uids).toEqual(uids)
  for (const limit of [1, 2, 3, 5, 6]) {
    const seen: number[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { uids: page, next } = await ask(
        `${query}&limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      expect(page.length).toBe(Math.min(limit, uids.length - seen.length))
      seen.push(...page)
      cursor = next
    }
    expect([limit, seen]).toEqual([limit, uids])
  }
})

test('names have one order, which is the same in both directions', async () => {
  const { uids } = await ask('sort=name')
  expect(uids.toSorted()).toEqual([1, 2, 3, 4, 5])
  expect((await ask('sort=-name')).uids).toEqual(uids.toReversed())
  expect((await ask('sort=name&limit=3')).uids).toEqual(uids.slice(0, 3))
})

test('a user who may see some databases gets pages of those only', async () => {
  const first = await ask('sort=-memory_size&limit=2', limited)
  expect(first.uids).toEqual([1, 5])
  const second = await ask(`sort=-memory_size&limit=2&cursor=${first.next}`, limited)
  expect(second).toEqual({ uids: [3], next: null })
  expect((await ask('q=s', limited)).uids).toEqual([1, 3, 5])
})

test('the typed client reads page after page', async () => {
  const client = createClient(operations, fetchTransport(running.url), () => auth.replace('Bearer ', ''))
  const seen: (readonly number[])[] = []
  for await (const page of client.listDatabases.pages({ query: { limit: 2, sort: '-uid', offset: 1 } }))
    seen.push(page.map(({ uid }) => uid))
  expect(seen).toEqual([
    [4, 3],
    [2, 1],
  ])
  expect(await client.listDatabases({ query: { limit: 1 } })).toHaveLength(1)
})

test.each([
  ['cursor=x', 'cursor: must be what the header'],
  ['cursor=', 'cursor: must be what the header'],
  [
    `cursor=${writeCursor({ list: 'bdbs', order: 'name' }, { value: 'orders', uid: 1 })}`,
    'cursor: is of a list with another sort',
  ],
  [
    `sort=name&cursor=${writeCursor({ list: 'bdbs', order: 'name' }, { value: 'a\0', uid: 1 })}`,
    'cursor: must be',
  ],
  [
    `sort=memory_size&cursor=${writeCursor({ list: 'bdbs', order: 'memory_size' }, { value: 'x', uid: 1 })}`,
    'cursor: must be',
  ],
  [
    `sort=name&cursor=${writeCursor({ list: 'bdbs', order: 'name' }, { value: 'a', uid: 2 ** 40 })}`,
    'cursor: must be',
  ],
  ['sort=password', 'sort: must be one of'],
  ['status=gone', 'status: must be one of'],
  ['engine_version=x', 'engine_version: must be'],
  ['q=', 'q: '],
  ['page=2', 'page: is not a field'],
])('%s is refused with the name of the field', async (query, words) => {
  const { status, body } = await running.send('GET', `/v1/bdbs?${query}`, { auth })
  expect([status, body['message']]).toEqual([400, expect.stringContaining(words)])
})

test('an answer that has not changed is 304 for its tag, and one that has is sent', async () => {
  const path = '/v1/bdbs?limit=2&fields=uid,name'
  const read = (known?: string) =>
    fetch(new URL(path, running.url), {
      headers: { authorization: auth, ...(known !== undefined && { 'if-none-match': known }) },
    })
  const first = await read()
  const tag = first.headers.get('etag') ?? ''
  expect([first.status, tag]).toEqual([200, expect.stringMatching(/^W\/"[\w-]{22}"$/)])
  for (const known of [tag, tag.slice(2), `"x", ${tag}`, '*']) {
    const again = await read(known)
    expect([known, again.status, again.headers.get('etag'), await again.text()]).toEqual([
      known,
      304,
      tag,
      '',
    ])
  }
  const other = await read('W/"x"')
  expect([other.status, await other.json()]).toEqual([200, await first.json()])
})

describe.skipIf(isOnPostgres)('in the embedded store', () => {
  test('a page is read by an index in every order, and none before it', async () => {
    await using store = await openTestStore(':memory:')
    const orders = ['uid', 'name', 'memory_size', 'created_time', 'last_changed_time'] as const
    for (const by of orders)
      for (const descending of [false, true]) {
        const order: DatabasesOrder = { by, descending }
        const page = { order, limit: 10, offset: 0, only: null, after: { value: 'x', uid: 7 } }
        const { sql, parameters } = chooseDatabases(store.db, page).compile()
        const plan = await store.db.executeQuery<{ readonly detail: string }>({
          ...chooseDatabases(store.db, page).compile(),
          sql: `explain query plan ${sql}`,
          parameters,
        })
        const details = plan.rows.map(({ detail }) => detail).join()
        expect([by, details]).toEqual([by, expect.stringMatching(/^SEARCH databases USING /)])
        expect(details).not.toMatch(/TEMP B-TREE|SCAN/)
      }
  })

  test('of a thousand databases a page of ten reads ten', async () => {
    await using store = await openTestStore(':memory:')
    await store.transaction(async (db) => {
      for (let n = 0; n < 1_000; n += 1)
        await databasesStore(db).insert({ ...databaseOf({ name: `db-${n}` }), groups: 1 })
    })
    using watch = watchReads()
    const page = { order: { by: 'name', descending: true }, limit: 10, offset: 0, only: null } as const
    const { answer, reads } = await watch.during(() => databasesStore(store.db).page(page))
    expect(answer).toHaveLength(10)
    expect(reads.map(({ rows: read }) => read)).toEqual([10, 10, 0, 0])
  })
})
