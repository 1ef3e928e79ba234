import { afterAll, beforeAll, expect, test } from 'vitest'
import { databasesStore } from '../../../../../src/fleet/stores/databases-store.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../../control-plane.ts'
import { databaseOf } from '../../../../records.ts'

const secret = 'the-secret-of-orders'
const args = 'KEY of-a-module'
let running: TestControlPlane
let admin: string

/** Databases 1 and 2, of which the second has a module with a secret argument. */
beforeAll(async () => {
  running = await startControlPlane()
  await running.withStore(async ({ db }) => {
    const module = { uid: 'a', name: 'tally', semanticVersion: '1.0.0', sha256: 'b', args: args.split(' ') }
    for (const name of ['orders', 'carts']) {
      const modules = name === 'carts' ? [module] : []
      const database = databaseOf({
        name,
        userPassword: secret,
        modules,

        tls: true,
      })
      const { uid } = await databasesStore(db).insert({ ...database, groups: 1 })
      await databasesStore(db).setStatus(uid, 'creation-failed', '2026-11-21T12:00:00.000Z')
    }
  })
  admin = await running.signIn('admin', adminPassword)
  const resources = [{ type: 'db', uids: ['1'] }]
  const roles = [
    ['member', 'db_member'],
    ['viewer', 'db_viewer'],
  ] as const
  for (const [name, management] of roles) {
    const role = { name: `${name}s`, management, resources }
    const { body } = await running.send('POST', '/v1/roles', { auth: admin, body: role })
    const user = { name, password: 'a-password-of-mine', role_uids: [body['uid']] }
    await running.send('POST', '/v1/users', { auth: admin, body: user })
  }
})
afterAll(() => running[Symbol.asyncDispose]())

const get = (path: string, auth = admin) => running.send('GET', path, { auth })
const readings = async () => {
  const { body } = await get('/v1/logs?limit=10000')
  return (body as unknown as { type: string }[]).filter(({ type }) => type === 'bdb_credentials_read')
}

test('users that may change a database read its password, and each reading is in the audit', async () => {
  const member = await running.signIn('member', 'a-password-of-mine')
  const viewer = await running.signIn('viewer', 'a-password-of-mine')
  const before = (await readings()).length
  const answer = await get('/v1/bdbs/1/credentials', member)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.body).toEqual({
    uid: 1,
    username: 'default',
    password: secret,
    tls_mode: 'enabled',
    endpoints: [],
  })
  const refusals = [
    [await get('/v1/bdbs/2/credentials', member), 403, 'forbidden'],
    [await get('/v1/bdbs/1/credentials', viewer), 403, 'forbidden'],
    [await get('/v1/bdbs/9/credentials'), 404, 'db_not_exist'],
  ] as const
  for (const [{ status, body }, expected, code] of refusals)
    expect([status, body['error_code']]).toEqual([expected, code])
  expect((await readings()).slice(before)).toMatchObject([
    { originator: 'member', bdb_uid: '1', details: {} },
  ])
})

// invariant: No list has a password or an argument of a module.
test('no list has a password or an argument of a module, and one database has both for users with view_redis_pass', async () => {
  const hasSecrets = async (path: string, auth?: string) => {
    const { status, body } = await get(path, auth)
    expect([path, status]).toEqual([path, 200])
    const text = JSON.stringify(body)
    return [text.includes(secret), text.includes('of-a-module')]
  }
  const viewer = await running.signIn('viewer', 'a-password-of-mine')
  expect(await hasSecrets('/v1/bdbs')).toEqual([false, false])
  expect(await hasSecrets('/v1/bdbs?fields=uid,authentication_redis_pass,module_list')).toEqual([
    false,
    false,
  ])
  expect(await hasSecrets('/v1/bdbs/2')).toEqual([true, true])
  expect(await hasSecrets('/v1/bdbs/1', viewer)).toEqual([false, false])
  expect(await hasSecrets('/v1/logs?limit=10000')).toEqual([false, false])

  const page = { origin: running.url, 'fairlead-request': '1' }
  const body = { username: 'admin', password: adminPassword }
  const { headers } = await running.send('POST', '/v1/session', { headers: page, body })
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
  const inBrowser = async (path: string) => {
    const answer = await running.send('GET', path, { headers: { cookie } })
    return [answer.status, JSON.stringify(answer.body).includes(secret)]
  }
  expect(await inBrowser('/v1/bdbs/2')).toEqual([200, false])
  expect(await inBrowser('/v1/bdbs/2/credentials')).toEqual([200, true])
})
