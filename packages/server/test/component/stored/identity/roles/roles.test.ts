import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../../control-plane.ts'

let fairlead: TestControlPlane
let admin: string
beforeAll(async () => {
  fairlead = await startControlPlane()
  admin = await fairlead.signIn('admin', adminPassword)
})
afterAll(() => fairlead[Symbol.asyncDispose]())

const password = 'a-password-of-mine'
const send = (method: string, path: string, body?: object, auth = admin) =>
  fairlead.send(method, path, { auth, ...(body && { body }) })
const refusal = async (answer: ReturnType<typeof send>) => {
  const { status, body } = await answer
  return [status, body['error_code']]
}
const newRole = async (body: object) => Number((await send('POST', '/v1/roles', body)).body['uid'])
const only = (...uids: string[]) => [{ type: 'db', uids }]

test('the built-in roles are there, as in the wider API, and stay as they are', async () => {
  const { body } = await send('GET', '/v1/roles')
  expect(body).toEqual(
    [
      ['Admin', 'admin'],
      ['Cluster Member', 'cluster_member'],
      ['Cluster Viewer', 'cluster_viewer'],
      ['DB Member', 'db_member'],
      ['DB Viewer', 'db_viewer'],
      ['None', 'none'],
      ['User Manager', 'user_manager'],
    ].map(([name, management], n) => ({ uid: n + 1, name, management, resources: [] })),
  )
  expect(await refusal(send('PUT', '/v1/roles/1', { management: 'none' }))).toEqual([406, 'role_is_built_in'])
  expect(await refusal(send('DELETE', '/v1/roles/6'))).toEqual([406, 'role_is_built_in'])
})

test('a role is created, shown, changed and deleted', async () => {
  const role = { name: 'Team A [prod]', management: 'db_member', resources: only('3', '1', '3') }
  const { body } = await send('POST', '/v1/roles', role)
  const uid = Number(body['uid'])
  expect(body).toEqual({ ...role, uid, resources: only('3', '1') })
  expect((await send('PUT', `/v1/roles/${uid}`, { management: 'db_viewer' })).body).toMatchObject({
    name: 'Team A [prod]',
    management: 'db_viewer',
    resources: only('3', '1'),
  })
  expect((await send('GET', `/v1/roles/${uid}`)).body).toMatchObject({ management: 'db_viewer' })
  expect((await send('DELETE', `/v1/roles/${uid}`)).body).toEqual({ uid })
  expect(await refusal(send('GET', `/v1/roles/${uid}`))).toEqual([404, 'role_not_exist'])
})

describe('a role is refused', () => {
  const refusals: readonly (readonly [string, object, number, string])[] = [
    ['with a taken name', { name: 'Admin', management: 'none' }, 409, 'name_already_exists'],
    ['with a name of other letters', { name: 'A<b>', management: 'none' }, 400, 'invalid_request'],
    ['without a management', { name: 'x' }, 400, 'invalid_request'],
    [
      'limited to databases where its management is not',
      { name: 'x', management: 'cluster_member', resources: only('1') },
      400,
      'unsupported_resource',
    ],
    [
      'limited to something else',
      { name: 'x', management: 'db_viewer', resources: [{ type: 'node', uids: ['1'] }] },
      400,
      'invalid_request',
    ],
  ]
  for (const [what, body, status, code] of refusals) {
    test(what, async () => expect(await refusal(send('POST', '/v1/roles', body))).toEqual([status, code]))
  }

  test('when it would be deleted from under a user', async () => {
    const uid = await newRole({ name: 'held', management: 'db_viewer' })
    await send('POST', '/v1/users', { name: 'holder', password, role_uids: [uid] })
    expect(await refusal(send('DELETE', `/v1/roles/${uid}`))).toEqual([406, 'role_in_use'])
  })

  test('when the last admin would lose it, or when a user who is no admin would give it', async () => {
    const uid = await newRole({ name: 'root', management: 'admin' })
    await send('PUT', '/v1/users/1', { role_uids: [uid] })
    admin = await fairlead.signIn('admin', adminPassword)
    const change = send('PUT', `/v1/roles/${uid}`, { management: 'db_viewer' })
    expect(await refusal(change)).toEqual([406, 'change_last_admin_role_not_allowed'])
    await send('POST', '/v1/users', { name: 'manager', password, role: 'user_manager' })
    const manager = await fairlead.signIn('manager', password)
    const refused = [403, 'unauthorized_action']
    const made = { name: 'mine', management: 'admin' }
    expect(await refusal(send('POST', '/v1/roles', made, manager))).toEqual(refused)
    expect(await refusal(send('PUT', `/v1/roles/${uid}`, { name: 'x' }, manager))).toEqual(refused)
    expect((await send('POST', '/v1/roles', { ...made, management: 'db_member' }, manager)).status).toBe(200)
  })
})

test('of one name there is one role and one user, however many ask at one moment', async () => {
  for (const [path, body] of [
    ['/v1/roles', { name: 'twin', management: 'db_viewer' }],
    ['/v1/users', { name: 'twin', password, email: 'twin@example.org' }],
  ] as const) {
    const answers = await Promise.all([1, 2, 3].map(() => refusal(send('POST', path, body))))
    const taken = [409, 'name_already_exists']
    expect(answers.toSorted()).toEqual([[200, undefined], taken, taken])
  }
})

test('a role that an admin has too is admins’ business', async () => {
  const uid = await newRole({ name: 'shared', management: 'db_viewer' })
  await send('POST', '/v1/users', { name: 'boss', password, role_uids: [1, uid] })
  await send('POST', '/v1/users', { name: 'clerk', password, role: 'user_manager' })
  const [boss, clerk] = [await fairlead.signIn('boss', password), await fairlead.signIn('clerk', password)]
  expect(await refusal(send('PUT', `/v1/roles/${uid}`, { name: 'x' }, clerk))).toEqual([
    403,
    'unauthorized_action',
  ])
  expect((await send('GET', '/v1/users', undefined, boss)).status).toBe(200)
  expect((await send('PUT', `/v1/roles/${uid}`, { name: 'x' })).status).toBe(200)
})

test('a changed role holds at once, and its users sign in anew', async () => {
  const uid = await newRole({ name: 'changing', management: 'cluster_viewer' })
  await send('POST', '/v1/users', { name: 'mia', password, role_uids: [uid] })
  const before = await fairlead.signIn('mia', password)
  expect((await send('GET', '/v1/logs', undefined, before)).status).toBe(200)
  await send('PUT', `/v1/roles/${uid}`, { management: 'db_viewer' })
  expect((await send('GET', '/v1/logs', undefined, before)).status).toBe(401)
  const after = await fairlead.signIn('mia', password)
  expect(await refusal(send('GET', '/v1/logs', undefined, after))).toEqual([403, 'forbidden'])
})
