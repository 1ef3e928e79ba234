import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../../control-plane.ts'
import { isOnPostgres } from '../../../../open-test-store.ts'
import { readLists } from '../../../../read-lists.ts'

let running: TestControlPlane
let admin: string
/** Users 1 (admin) to 6, of which 3 and 5 are disabled; roles 8 and 9 beside the built-in ones. */
beforeAll(async () => {
  running = await startControlPlane()
  admin = await running.signIn('admin', adminPassword)
  const post = (path: string, body: object) => running.send('POST', path, { auth: admin, body })
  for (const [name, email] of [
    ['mia', 'mia@example.org'],
    ['Zoe', 'z_1@example.org'],
    ['bob', undefined],
    ['ann', undefined],
    ['MIAH', 'x@example.org'],
  ] as const)
    await post('/v1/users', { name, email, password: `a-password-of-${name}` })
  for (const uid of [3, 5])
    await running.send('PUT', `/v1/users/${uid}`, { auth: admin, body: { disabled: true } })
  await post('/v1/roles', {
    name: 'Orders',
    management: 'db_viewer',
    resources: [{ type: 'db', uids: ['1'] }],
  })
  await post('/v1/roles', { name: 'all orders', management: 'db_member' })
})
afterAll(() => running[Symbol.asyncDispose]())

const lists = () => readLists(running, (body) => (body as unknown as { uid: number }[]).map(({ uid }) => uid))

test.each([
  ['users?', [1, 2, 3, 4, 5, 6]],
  ['users?sort=-uid', [6, 5, 4, 3, 2, 1]],
  ['users?q=mia', [2, 6]],
  ['users?q=EXAMPLE.org', [2, 3, 6]],
  ['users?q=_', [3]],
  ['users?q=4', [4]],
  ['users?status=active', [1, 2, 4, 6]],
  ['users?status=disabled', [3, 5]],
  ['users?status=locked', []],
  ['users?status=active&q=mia&sort=-uid', [6, 2]],
  ['roles?q=order', [8, 9]],
  ['roles?management=db_viewer&sort=-uid', [8, 5]],
  ['roles?q=9', [9]],
])('%s is the list %j, also page by page', async (path, uids) => {
  const { ask, byPages } = lists()
  expect((await ask(`/v1/${path}`, admin)).keys).toEqual(uids)
  for (const limit of [1, 2, 4, 7]) expect(await byPages(`/v1/${path}`, limit, admin)).toEqual(uids)
})

test('names have one order, which is the same in both directions and in pages', async () => {
  const { ask, byPages } = lists()
  for (const list of ['users', 'roles']) {
    const { keys } = await ask(`/v1/${list}?sort=name`, admin)
    expect((await ask(`/v1/${list}?sort=-name`, admin)).keys).toEqual(keys.toReversed())
    expect(await byPages(`/v1/${list}?sort=name`, 2, admin)).toEqual(keys)
  }
})

/** PostgreSQL's collation decides which letters match; that of the tests (C) only knows English ones. */
test.each([
  { q: 'Äpfel', finds: true },
  { q: 'ÉCLAIR', finds: true },
  { q: 'äpfel', finds: !isOnPostgres },
  { q: 'éclair', finds: !isOnPostgres },
])('a user whose name has other letters than English is found by $q: $finds', async ({ q, finds }) => {
  const user = { name: 'Äpfel ÉCLAIR', password: 'a-password-of-apples' }
  const { uid } = (await running.send('POST', '/v1/users', { auth: admin, body: user })).body
  const { keys } = await lists().ask(`/v1/users?q=${encodeURIComponent(q)}`, admin)
  await running.send('DELETE', `/v1/users/${uid}`, { auth: admin })
  expect(keys).toEqual(finds ? [uid] : [])
})

test('an offset counts users of the status that is asked for', async () => {
  const { ask } = lists()
  expect((await ask('/v1/users?status=active&offset=1&limit=2', admin)).keys).toEqual([2, 4])
  expect((await ask('/v1/users?status=disabled&offset=1', admin)).keys).toEqual([5])
})

test.each(['users', 'roles'])('%s have the fields that are asked for, and a tag', async (list) => {
  const path = `/v1/${list}?limit=1&fields=uid,name,password`
  const { body, headers } = await running.send('GET', path, { auth: admin })
  expect(body).toEqual([{ uid: 1, name: expect.any(String) }])
  const again = await fetch(new URL(path, running.url), {
    headers: { authorization: admin, 'if-none-match': headers.get('etag') ?? '' },
  })
  expect([again.status, await again.text()]).toEqual([304, ''])
})

test('a cursor leads on in its own list only', async () => {
  const cursorOf = async (path: string) =>
    (await running.send('GET', path, { auth: admin })).headers.get('x-next-cursor') ?? ''
  const lists = ['users', 'roles', 'logs']
  for (const list of lists) {
    const cursor = await cursorOf(`/v1/${list}?limit=1`)
    for (const other of [...lists, 'bdbs', 'shards', 'nodes', 'actions']) {
      const { status, body } = await running.send('GET', `/v1/${other}?limit=1&cursor=${cursor}`, {
        auth: admin,
      })
      const message = 'cursor: is of another list: send it to the list that it came from'
      expect([status, body['message']]).toEqual(other === list ? [200, undefined] : [400, message])
    }
  }
})

test.each([
  ['users?status=gone', 'status: must be one of'],
  ['users?sort=email', 'sort: must be one of'],
  ['users?cursor=x', 'cursor: must be what the header'],
  ['users?role=admin', 'role: is not a field'],
  ['roles?management=boss', 'management: must be one of'],
  ['roles?cursor=x', 'cursor: must be what the header'],
])('%s is refused with the name of the field', async (path, words) => {
  const { status, body } = await running.send('GET', `/v1/${path}`, { auth: admin })
  expect([status, body['message']]).toEqual([400, expect.stringContaining(words)])
})
