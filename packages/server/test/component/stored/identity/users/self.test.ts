import { permissionsOf } from '@fairlead/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminPassword, basic, startControlPlane, type TestControlPlane } from '../../../../control-plane.ts'

const password = 'a-password-of-mine'
let running: TestControlPlane
let admin: string
beforeAll(async () => {
  running = await startControlPlane()
  admin = await running.signIn('admin', adminPassword)
})
afterAll(() => running[Symbol.asyncDispose]())

const self = async (auth: string) => (await running.send('GET', '/v1/users/self', { auth })).body
const send = (method: string, path: string, body: object) => running.send(method, path, { auth: admin, body })

test('a user sees itself, all its permissions, and when its token and its password end', async () => {
  const before = Date.now()
  const token = await running.signIn('admin', adminPassword, 600)
  const shown = await self(token)
  expect(shown).toMatchObject({ uid: 1, name: 'admin', role: 'admin', status: 'active', resources: [] })
  expect(shown).toMatchObject({ signed_in_by: 'token', password_expires: null })
  expect(shown['permissions']).toEqual(permissionsOf('admin'))
  const ends = Date.parse(String(shown['token_expires']))
  expect(ends).toBeGreaterThanOrEqual(before + 599_000)
  expect(ends).toBeLessThanOrEqual(Date.now() + 600_000)

  await send('PUT', '/v1/cluster', { password_expiration_duration: 30 })
  const byPassword = await self(basic('admin', adminPassword))
  expect(byPassword).toMatchObject({ signed_in_by: 'password', token_expires: null })
  expect(Date.parse(String(byPassword['password_expires']))).toBeGreaterThan(Date.now() + 29 * 86_400_000)
})

test('permissions that hold for some databases only are told apart from those that hold for everything', async () => {
  const uidOf = async (body: object) => (await send('POST', '/v1/roles', body)).body['uid']
  const resources = (...uids: string[]) => [{ type: 'db', uids }]
  const member = await uidOf({ name: 'm', management: 'db_member', resources: resources('12', '2') })
  const viewer = await uidOf({ name: 'v', management: 'db_viewer', resources: resources('3') })
  await send('POST', '/v1/users', { name: 'mia', password, role_uids: [member, viewer] })
  const shown = await self(await running.signIn('mia', password))
  expect(shown['role']).toBe('db_member')
  expect(shown['permissions']).toEqual(permissionsOf('db_member'))
  expect(shown['resources']).toEqual([
    {
      type: 'db',
      uids: ['2', '12'],
      permissions: permissionsOf('db_member').filter((one) => !permissionsOf('db_viewer').includes(one)),
    },
    { type: 'db', uids: ['2', '3', '12'], permissions: permissionsOf('db_viewer') },
  ])

  await send('POST', '/v1/users', { name: 'ben', password, role_uids: [member, 3] })
  const [only, ...others] = (await self(await running.signIn('ben', password)))['resources'] as {
    permissions: string[]
  }[]
  expect([others, only?.permissions.includes('update_bdb')]).toEqual([[], true])
  expect(only?.permissions).not.toContain('view_bdb_info')
})

test('a user without permissions sees itself, too', async () => {
  await send('POST', '/v1/users', { name: 'nil', password, role: 'none' })
  const shown = await self(await running.signIn('nil', password))
  expect(shown).toMatchObject({ name: 'nil', permissions: [], resources: [] })
})
