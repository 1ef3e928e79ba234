import { afterAll, beforeAll, expect, test } from 'vitest'
import { databasesStore } from '../../../../../src/fleet/stores/databases-store.ts'
import { shardsStore } from '../../../../../src/fleet/stores/shards-store.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../../control-plane.ts'
import { readLists } from '../../../../read-lists.ts'
import { databaseOf, shardOf } from '../../../../records.ts'

const at = '2026-11-21T12:00:00.000Z'
let running: TestControlPlane
let admin: string
let limited: string

/** Databases 1 to 7 with two shards each, of which 4 is gone again; a user that sees 2, 3, 4 and 6. */
beforeAll(async () => {
  running = await startControlPlane()
  await running.withStore(async ({ db }) => {
    for (let n = 1; n <= 7; n += 1) {
      const { uid } = await databasesStore(db).insert({ ...databaseOf({ name: `db-${8 - n}` }), groups: 1 })
      for (const port of [n, n + 100])
        await shardsStore(db).insert(shardOf(0, { databaseUid: uid, port }), at)
      await databasesStore(db).setStatus(uid, 'creation-failed', at)
    }
    for (const { id } of await shardsStore(db).listOf(4)) await shardsStore(db).remove(id)
    await databasesStore(db).remove(4)
  })
  admin = await running.signIn('admin', adminPassword)
  const uids = ['6', '2', '3', '4']
  const role = { name: 'some', management: 'db_viewer', resources: [{ type: 'db', uids }] }
  await running.send('POST', '/v1/roles', { auth: admin, body: role })
  const user = { name: 'lim', password: 'a-password-of-lim', role_uids: [8] }
  await running.send('POST', '/v1/users', { auth: admin, body: user })
  limited = await running.signIn('lim', 'a-password-of-lim')
})
afterAll(() => running[Symbol.asyncDispose]())

async function uidsOf(path: string, auth = admin): Promise<readonly number[]> {
  const { status, body } = await running.send('GET', path, { auth })
  expect(status).toBe(200)
  return (body as unknown as { uid: number }[]).map(({ uid }) => uid)
}

test('the list is in the order of uids, whole or in pages, each with its own shards', async () => {
  expect(await uidsOf('/v1/bdbs')).toEqual([1, 2, 3, 5, 6, 7])
  expect(await uidsOf('/v1/bdbs?limit=2')).toEqual([1, 2])
  expect(await uidsOf('/v1/bdbs?limit=2&offset=2')).toEqual([3, 5])
  expect(await uidsOf('/v1/bdbs?limit=10000&offset=4')).toEqual([6, 7])
  expect(await uidsOf('/v1/bdbs?offset=5')).toEqual([7])
  expect(await uidsOf('/v1/bdbs?limit=2&offset=6')).toEqual([])
  expect(await uidsOf('/v1/bdbs?offset=2147483647')).toEqual([])
  const { body } = await running.send('GET', '/v1/bdbs?limit=1&offset=3', { auth: admin })
  const single = await running.send('GET', '/v1/bdbs/5', { auth: admin })
  const { authentication_engine_pass: _, authentication_redis_pass: __, ...shown } = single.body
  expect(body).toEqual([shown])
  expect(body).toMatchObject([{ uid: 5, shard_list: [9, 10] }])
})

test('pages of a user who may see some databases count those only', async () => {
  expect(await uidsOf('/v1/bdbs', limited)).toEqual([2, 3, 6])
  expect(await uidsOf('/v1/bdbs?limit=2&offset=1', limited)).toEqual([3, 6])
  expect(await uidsOf('/v1/bdbs?offset=3', limited)).toEqual([])
})

test('shards are chosen by their databases and states, in pages that count databases', async () => {
  const { ask, byPages } = readLists(running, (body) =>
    (body as unknown as { uid: string }[]).map(({ uid }) => Number(uid)),
  )
  const list = async (query: string, auth = admin) => (await ask(`/v1/shards?${query}`, auth)).keys
  const all = [1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14]
  expect(await list('')).toEqual(all)
  expect(await byPages('/v1/shards?status=inactive', 2, admin, 4)).toEqual(all)
  expect(await list('q=DB-5')).toEqual([5, 6])
  expect(await list('q=6', limited)).toEqual([3, 4, 11, 12])
  expect(await list('status=active')).toEqual([])
  expect(await list('engine_version=redis-7.0')).toEqual(all)
  expect(await list('engine_version=valkey-7.0')).toEqual([])
  const { body } = await running.send('GET', '/v1/shards?limit=1&fields=uid,group', { auth: admin })
  expect(body).toEqual([
    { uid: '1', group: 0 },
    { uid: '2', group: 0 },
  ])
})

test('users and roles are listed in pages, too', async () => {
  expect(await uidsOf('/v1/users')).toEqual([1, 2])
  expect(await uidsOf('/v1/users?limit=1&offset=1')).toEqual([2])
  expect(await uidsOf('/v1/users?offset=2')).toEqual([])
  expect(await uidsOf('/v1/roles?limit=3&offset=6')).toEqual([7, 8])
})

test.each(['bdbs', 'users', 'roles', 'actions', 'logs', 'nodes', 'shards'])(
  'an invalid page of /v1/%s is refused, and the refusal names the field',
  async (list) => {
    for (const [query, field] of [
      ['limit=0', 'limit'],
      ['limit=-1', 'limit'],
      ['limit=10001', 'limit'],
      ['limit=1e2x', 'limit'],
      ['limit=1.5', 'limit'],
      ['offset=-1', 'offset'],
      ['offset=2147483648', 'offset'],
      ['limit=', 'limit'],
      ['page=2', 'page'],
    ] as const) {
      const { status, body } = await running.send('GET', `/v1/${list}?${query}`, { auth: admin })
      expect([query, status, body['error_code']]).toEqual([query, 400, 'invalid_request'])
      expect(body['message']).toContain(field)
    }
  },
)
