import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { steadyGoal } from '../../../../../src/core/state/database.ts'
import { actionsStore } from '../../../../../src/fleet/stores/actions-store.ts'
import { chooseActions } from '../../../../../src/fleet/stores/chosen-actions-store.ts'
import { databasesStore } from '../../../../../src/fleet/stores/databases-store.ts'
import { moduleActionsStore } from '../../../../../src/fleet/stores/module-actions-store.ts'
import { writeCursor } from '../../../../../src/http/list-pages.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../../control-plane.ts'
import { isOnPostgres, openTestStore } from '../../../../open-test-store.ts'
import { readLists } from '../../../../read-lists.ts'
import { databaseOf } from '../../../../records.ts'
import { signInLimited } from '../../../../sign-in-limited.ts'

const at = (minute: number) => `2026-11-21T12:0${minute}:00.000Z`
/** Each is created in the minute of its number; and ends in a later one. Database 3 is gone. */
const rows = [
  { uid: 'a0', of: 1, end: { status: 'failed', ending: 'failed' }, changed: 9 },
  { uid: 'a1', of: 2, end: { status: 'failed', ending: 'rolled_back' }, changed: 8 },
  { uid: 'a2', of: 1, end: { status: 'failed' }, changed: 7 },
  { uid: 'a3', of: 3, end: { status: 'failed', ending: 'cancelled' }, changed: 6 },
  { uid: 'a4', of: 2, end: { status: 'done' }, changed: 5 },
] as const

let running: TestControlPlane
let admin: string
let limited: string
beforeAll(async () => {
  running = await startControlPlane()
  await running.withStore(async ({ db }) => {
    const databases = databasesStore(db)
    const first = await databases.insert({ ...databaseOf({ name: 'Orders' }), groups: 1 })
    await databases.insert({ ...databaseOf({ name: 'carts' }), groups: 1 })
    for (const { uid, of, end, changed } of rows) {
      const goal = steadyGoal({ ...first, uid: of })
      const minute = Number(uid[1])
      await actionsStore(db).insert({ uid, databaseUid: of, kind: 'upgrade', goal }, at(minute))
      await actionsStore(db).update(uid, end, at(changed))
    }
    // The server would go on with one that runs.
    await db.updateTable('actions').set({ phase: 'window' }).where('uid', '=', 'a4').execute()
    // In the same minutes as a2 and a4.
    for (const [uid, minute] of [
      ['m2', 2],
      ['m4', 4],
    ] as const)
      await moduleActionsStore(db).insert({ uid, kind: 'upload', moduleUid: 'x', createdAt: at(minute) })
  })
  admin = await running.signIn('admin', adminPassword)
  limited = await signInLimited(running, admin, { management: 'db_viewer', uids: ['1', '3'] })
})
afterAll(() => running[Symbol.asyncDispose]())

const uidsOf = (list: unknown) => (list as { action_uid: string }[]).map(({ action_uid }) => action_uid)
const lists = () => readLists(running, (body) => uidsOf(Array.isArray(body) ? body : body['state-machines']))

test.each([
  ['', 'm4 a4 a3 m2 a2 a1 a0'],
  ['sort=created_time', 'a0 a1 a2 m2 a3 a4 m4'],
  ['sort=last_changed_time', 'm2 m4 a4 a3 a2 a1 a0'],
  ['sort=-last_changed_time', 'a0 a1 a2 a3 a4 m4 m2'],
  ['phase=window', 'a4'],
  ['phase=ended', 'm4 a3 m2 a2 a1 a0'],
  ['phase=stuck', ''],
  ['outcome=completed', 'm4 a4 m2'],
  ['outcome=rolled_back', 'a1'],
  ['outcome=cancelled', 'a3'],
  ['outcome=failed', 'a2 a0'],
  ['bdb_uid=2', 'a4 a1'],
  ['bdb_uid=3&outcome=cancelled', 'a3'],
  ['q=ORD', 'a2 a0'],
  ['q=r', 'a4 a2 a1 a0'],
  ['q=3', 'a3'],
  ['q=%25', ''],
  ['sort=created_time&q=carts&phase=ended', 'a1'],
])('%s is the list %s of actions, also page by page, in both forms', async (query, words) => {
  const uids = words.split(' ').filter((word) => word !== '')
  const { ask, byPages } = lists()
  for (const path of [`/v1/actions?${query}`, `/v2/actions?${query}`]) {
    expect((await ask(path, admin)).keys).toEqual(uids)
    for (const limit of [1, 2, 3, 7]) expect(await byPages(path, limit, admin)).toEqual(uids)
  }
})

test('a status of the form chooses together with the rest', async () => {
  const { ask } = lists()
  expect((await ask('/v1/actions?status=failed&bdb_uid=2', admin)).keys).toEqual(['a1'])
  expect((await ask('/v2/actions?status=completed&sort=created_time', admin)).keys).toEqual([
    'm2',
    'a4',
    'm4',
  ])
})

test('pages of one database, and of a user that may see some databases, have no action of another one', async () => {
  const { ask, byPages } = lists()
  expect(await byPages('/v1/actions/bdb/2?sort=created_time', 1, admin)).toEqual(['a1', 'a4'])
  expect(await byPages('/v1/actions?', 1, limited)).toEqual(['a3', 'a2', 'a0'])
  expect((await ask('/v1/actions?bdb_uid=2', limited)).keys).toEqual([])
  expect((await ask('/v1/actions?q=carts', limited)).keys).toEqual([])
})

test('an action that comes while pages are read moves none of them', async () => {
  const { ask } = lists()
  const first = await ask('/v2/actions?limit=3', admin)
  await running.withStore(({ db }) =>
    moduleActionsStore(db).insert({ uid: 'm9', kind: 'upload', moduleUid: 'x', createdAt: at(9) }),
  )
  const next = await ask(`/v2/actions?limit=3&cursor=${first.next}`, admin)
  expect([...first.keys, ...next.keys]).toEqual(['m4', 'a4', 'a3', 'm2', 'a2', 'a1'])
  await running.tamper(`delete from module_actions where uid = 'm9'`)
})

test('fields are those of each action, and an answer that has not changed is 304 for its tag', async () => {
  const { body, headers } = await running.send('GET', '/v1/actions?limit=2&fields=action_uid,phase', {
    auth: admin,
  })
  expect(body).toEqual({
    actions: [],
    'state-machines': [
      { action_uid: 'm4', phase: 'ended' },
      { action_uid: 'a4', phase: 'window' },
    ],
  })
  const second = await running.send('GET', '/v2/actions?limit=1&fields=action_uid,none', { auth: admin })
  expect(second.body).toEqual([{ action_uid: 'm4' }])
  const again = await fetch(new URL('/v1/actions?limit=2&fields=action_uid,phase', running.url), {
    headers: { authorization: admin, 'if-none-match': headers.get('etag') ?? '' },
  })
  expect([again.status, await again.text()]).toEqual([304, ''])
})

test.each([
  ['cursor=x', 'cursor: must be what the header'],
  [
    `cursor=${writeCursor({ list: 'actions', order: 'created_time' }, { value: at(1), uid: 'a1' })}`,
    'cursor: is of a list with another',
  ],
  [
    `cursor=${writeCursor({ list: 'actions', order: '-created_time' }, { value: 1, uid: 'a1' })}`,
    'cursor: must be',
  ],
  [
    `cursor=${writeCursor({ list: 'actions', order: '-created_time' }, { value: at(1), uid: 7 })}`,
    'cursor: must be',
  ],
  [
    `cursor=${writeCursor({ list: 'actions', order: '-created_time' }, { value: at(1), uid: 'a\0' })}`,
    'cursor: must be',
  ],
  ['phase=gone', 'phase: must be one of'],
  ['outcome=gone', 'outcome: must be one of'],
  ['sort=name', 'sort: must be one of'],
  ['bdb_uid=0', 'bdb_uid: '],
  ['q=', 'q: '],
  ['page=2', 'page: is not a field'],
])('%s is refused with the name of the field', async (query, words) => {
  for (const form of ['v1', 'v2']) {
    const { status, body } = await running.send('GET', `/${form}/actions?${query}`, { auth: admin })
    expect([status, body['message']]).toEqual([400, expect.stringContaining(words)])
  }
})

describe.skipIf(isOnPostgres)('in the embedded store', () => {
  test('a page of actions is read by an index in every order, and none before it', async () => {
    await using store = await openTestStore(':memory:')
    for (const by of ['created_time', 'last_changed_time'] as const)
      for (const descending of [false, true])
        for (const filter of [{}, { phase: 'queued' } as const]) {
          const page = { order: { by, descending }, limit: 10, after: { value: at(1), uid: 'x' }, ...filter }
          const { sql, parameters } = chooseActions(store.db, page).compile()
          const { rows: plan } = await store.db.executeQuery<{ readonly detail: string }>({
            ...chooseActions(store.db, page).compile(),
            sql: `explain query plan ${sql}`,
            parameters,
          })
          const details = plan.map(({ detail }) => detail).join()
          expect([by, details]).toEqual([by, expect.stringMatching(/^SEARCH actions USING INDEX /)])
          if (!('phase' in filter)) expect(details).not.toMatch(/TEMP B-TREE|SCAN/)
        }
  })
})
