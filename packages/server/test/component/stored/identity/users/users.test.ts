import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../../control-plane.ts'

let fairlead: TestControlPlane
let admin: string
let manager: string
beforeAll(async () => {
  fairlead = await startControlPlane()
  admin = await fairlead.signIn('admin', adminPassword)
  await create({ name: 'manager', role: 'user_manager' })
  manager = await fairlead.signIn('manager', password)
})
afterAll(() => fairlead[Symbol.asyncDispose]())

const password = 'a-password-of-mine'
const send = (method: string, path: string, body?: object, auth = admin) =>
  fairlead.send(method, path, { auth, ...(body && { body }) })
const create = (fields: object, auth = admin) => send('POST', '/v1/users', { password, ...fields }, auth)
const newUser = async (fields: object) => Number((await create(fields)).body['uid'])
const refusal = async (answer: ReturnType<typeof send>) => {
  const { status, body } = await answer
  return [status, body['error_code']]
}

describe('a user', () => {
  test('is created, shown, changed and deleted, with all that the wider API shows of it', async () => {
    const { body } = await create({
      name: 'Mia',
      email: 'mia@example.org',
      role_uids: [4, 5],
      auth_method: 'regular',
    })
    const uid = Number(body['uid'])
    expect(body).toEqual({
      uid,
      name: 'Mia',
      email: 'mia@example.org',
      role: 'db_member',
      role_uids: [4, 5],
      auth_method: 'regular',
      status: 'active',
      password_issue_date: expect.stringMatching(/^\d{4}-.*Z$/),
      email_alerts: true,
      cluster_email_alerts: true,
      bdbs_email_alerts: [],
    })
    await fairlead.signIn('mia', password)
    const { body: shown } = await send('GET', `/v1/users/${uid}`)
    expect(shown['last_login']).toBeCloseTo(Date.now() / 1000, -2)
    const { body: changed } = await send('PUT', `/v1/users/${uid}`, {
      name: 'Mia M.'.replace(' ', ''),
      role: 'db_viewer',
    })
    expect(changed).toMatchObject({
      name: 'MiaM.',
      email: 'mia@example.org',
      role: 'db_viewer',
      role_uids: [5],
    })
    await fairlead.signIn('mia@example.org', password)
    expect((await send('GET', '/v1/users')).body).toContainEqual(
      expect.objectContaining({ uid, name: 'MiaM.' }),
    )
    expect(await send('DELETE', `/v1/users/${uid}`)).toMatchObject({ status: 200, body: { uid } })
    expect(await refusal(send('GET', `/v1/users/${uid}`))).toEqual([404, 'user_not_exist'])
    await expect(fairlead.signIn('MiaM.', password)).rejects.toThrow('invalid_credentials')
  })

  test('is a db_viewer without a word about it, and may be named by an e-mail alone', async () => {
    const { body } = await create({ email: 'only@example.org', email_alerts: false })
    expect(body).toMatchObject({ name: 'only@example.org', role: 'db_viewer', role_uids: [5] })
    await fairlead.signIn('only@example.org', password)
  })

  test('keeps its number for itself: a deleted one’s is not given again', async () => {
    const first = await newUser({ name: 'first' })
    await send('DELETE', `/v1/users/${first}`)
    expect(await newUser({ name: 'second' })).toBeGreaterThan(first)
  })

  const refusals: readonly (readonly [string, object, number, string])[] = [
    ['without name and e-mail', {}, 400, 'invalid_request'],
    ['with a name that has a colon', { name: 'a:b' }, 400, 'invalid_request'],
    ['with an e-mail that is none', { email: 'nobody' }, 400, 'invalid_request'],
    ['with a role that is none', { name: 'a', role: 'emperor' }, 400, 'invalid_request'],
    ['with a space at an end', { name: 'a ' }, 400, 'invalid_request'],
    ['with two spaces', { name: 'a  b' }, 400, 'invalid_request'],
    ['with a certificate', { name: 'a', auth_method: 'certificate' }, 400, 'invalid_request'],
    ['with a short password', { name: 'a', password: 'short' }, 400, 'password_not_complex'],
    ['with two roles that differ', { name: 'a', role: 'admin', role_uids: [2] }, 400, 'conflicting_fields'],
    ['with an unknown role', { name: 'a', role_uids: [99] }, 404, 'role_not_exist'],
    ['with a taken name', { name: 'ADMIN' }, 409, 'name_already_exists'],
    ['with a name that is another’s e-mail', { name: 'taken@example.org' }, 409, 'name_already_exists'],
    ['with a taken e-mail', { name: 'a', email: 'TAKEN@example.org' }, 409, 'email_already_exists'],
  ]
  for (const [what, fields, status, code] of refusals) {
    test(`${what} is refused, and no user is created`, async () => {
      await create({ email: 'taken@example.org' })
      const before = (await send('GET', '/v1/users')).body
      expect(await refusal(create(fields))).toEqual([status, code])
      expect((await send('GET', '/v1/users')).body).toEqual(before)
    })
  }
})

describe('the last admin', () => {
  // invariant: An admin who can sign in always remains.
  test('can be neither removed nor demoted nor disabled, and can once there is another', async () => {
    const change = (body: object) => send('PUT', '/v1/users/1', body)
    const code = 'change_last_admin_role_not_allowed'
    expect(await refusal(change({ role: 'db_viewer' }))).toEqual([406, code])
    expect(await refusal(change({ disabled: true }))).toEqual([406, code])
    expect(await refusal(send('DELETE', '/v1/users/1'))).toEqual([406, code])
    expect((await send('GET', '/v1/users/1')).body).toMatchObject({ role: 'admin', status: 'active' })

    const other = await newUser({ name: 'other-admin', role: 'admin' })
    await send('PUT', `/v1/users/${other}`, { disabled: true })
    expect(await refusal(change({ role: 'db_viewer' }))).toEqual([406, code]) // an admin who cannot sign in does not count
    await send('PUT', `/v1/users/${other}`, { disabled: false })
    expect((await change({ role_uids: [1, 5] })).status).toBe(200)
    admin = await fairlead.signIn('other-admin', password)
    expect((await change({ role: 'db_viewer' })).status).toBe(200)
    expect(await refusal(send('DELETE', `/v1/users/${other}`))).toEqual([406, code])
    expect((await change({ role: 'admin' })).status).toBe(200)
  })
})

describe('users who manage users', () => {
  test('make and change users', async () => {
    const { body } = await create({ name: 'made' }, manager)
    expect(
      await send('PUT', `/v1/users/${String(body['uid'])}`, { role: 'db_member' }, manager),
    ).toMatchObject({
      status: 200,
      body: { role: 'db_member' },
    })
  })

  test('neither create nor change admins: they would become admins in two steps', async () => {
    const refused = [403, 'unauthorized_action']
    const own = (await send('GET', '/v1/users')).body as unknown as { uid: number; name: string }[]
    const uid = own.find(({ name }) => name === 'manager')?.uid
    expect(await refusal(create({ name: 'mine', role: 'admin' }, manager))).toEqual(refused)
    expect(await refusal(send('PUT', `/v1/users/${uid}`, { role_uids: [1] }, manager))).toEqual(refused)
    expect(await refusal(send('PUT', '/v1/users/1', { password: 'mine-from-now-on' }, manager))).toEqual(
      refused,
    )
    expect(await refusal(send('PUT', '/v1/users/1', { name: 'renamed' }, manager))).toEqual(refused)
    // Nor can they try out an admin's password: "the same as now" would tell.
    expect(await refusal(send('PUT', '/v1/users/1', { password: adminPassword }, manager))).toEqual(refused)
    expect(await refusal(send('DELETE', '/v1/users/1', undefined, manager))).toEqual(refused)
  })
})

test('users change their own name and password, and nothing else of themselves', async () => {
  const uid = await newUser({ name: 'own', role: 'none' })
  let own = await fairlead.signIn('own', password)
  const change = (body: object) => send('PUT', `/v1/users/${uid}`, body, own)
  expect((await send('GET', `/v1/users/${uid}`, undefined, own)).body).toMatchObject({ name: 'own' })
  expect(await change({ name: 'renamed' })).toMatchObject({ status: 200, body: { name: 'renamed' } })
  for (const body of [
    { role: 'admin' },
    { role_uids: [4] },
    { email: 'a@example.org' },
    { disabled: false },
  ]) {
    expect(await refusal(change(body))).toEqual([403, 'unauthorized_action'])
  }
  const renewed = { password: 'another-password', old_password: password }
  expect((await change(renewed)).status).toBe(200)
  own = await fairlead.signIn('renamed', 'another-password')
  expect(await refusal(change({ ...renewed, old_password: renewed.password }))).toEqual([
    400,
    'new_password_same_as_current',
  ])
})

test('what each management may do can be asked by all signed-in users', async () => {
  const { body } = await send('GET', '/v1/users/permissions', undefined, manager)
  const all = body as Record<string, { api_permissions: string[] }>
  expect(all['admin']?.api_permissions.length).toBe(96)
  expect(all['none']?.api_permissions).toEqual([])
  expect(all['db_viewer']?.api_permissions).not.toContain('view_redis_pass')
  const { body: one } = await send('GET', '/v1/users/permissions/db_member', undefined, manager)
  expect(one).toEqual({ db_member: all['db_member'] })
})

test('a name may have spaces, an e-mail signs in, and what is set of alerts is kept', async () => {
  const alerts = { email_alerts: true, cluster_email_alerts: false, bdbs_email_alerts: ['1', '7'] }
  const { body } = await create({ name: 'Ada King', email: 'ada@example.org', role: 'none', ...alerts })
  expect(body).toMatchObject({ name: 'Ada King', ...alerts })
  const own = await fairlead.signIn('ada@example.org', password)
  await fairlead.signIn('ada king', password)
  const path = `/v1/users/${String(body['uid'])}`
  expect(await send('PUT', path, { email_alerts: false }, own)).toMatchObject({ status: 200 })
  expect((await send('GET', path)).body).toMatchObject({ ...alerts, email_alerts: false })
})
