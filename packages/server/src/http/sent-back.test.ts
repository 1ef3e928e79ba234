import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../test/control-plane.ts'

/* Programs read an object, change a field, and send all of it back. What is not changed asks for nothing. */

let running: TestControlPlane
let auth: string
beforeAll(async () => {
  running = await startControlPlane()
  auth = await running.signIn('admin', adminPassword)
})
afterAll(() => running[Symbol.asyncDispose]())

const send = (method: string, path: string, body?: object) =>
  running.send(method, path, { auth, ...(body && { body }) })

test.each(['/v1/cluster', '/v1/cluster/policy'])('%s may be sent back as it was read', async (path) => {
  const { body } = await send('GET', path)
  expect(await send('PUT', path, body)).toMatchObject({ status: 200, body })
})

test('a cluster keeps its name', async () => {
  const { status, body } = await send('PUT', '/v1/cluster', { name: 'other', password_min_length: 9 })
  expect([status, body['error_code'], body['message']]).toEqual([
    ...[400, 'field_not_available'],
    'name: cannot be changed; a cluster keeps it from its creation on',
  ])
  expect((await send('GET', '/v1/cluster')).body).not.toMatchObject({ password_min_length: 9 })
})

test('a user of several roles may be sent back with a change, and its roles stay', async () => {
  const role = await send('POST', '/v1/roles', { name: 'team', management: 'db_member' })
  const role_uids = [5, Number(role.body['uid'])]
  const { uid } = (await send('POST', '/v1/users', { name: 'mia', password: 'a-good-password', role_uids }))
    .body
  const path = `/v1/users/${String(uid)}`
  await running.signIn('mia', 'a-good-password')
  const { body } = await send('GET', path)
  expect(body['last_login']).toBeDefined()
  const changed = { ...body, email: 'mia@example.org', last_login: 1 }
  expect(await send('PUT', path, changed)).toMatchObject({
    status: 200,
    body: { role: 'db_member', role_uids, email: 'mia@example.org' },
  })
  for (const other of [
    { uid: 99 },
    { status: 'locked' },
    { password_issue_date: '2020-01-01T00:00:00.000Z' },
  ])
    expect(await send('PUT', path, { ...other, name: 'another' })).toMatchObject({
      status: 400,
      body: { error_code: 'field_not_available' },
    })
  expect((await send('PUT', path, { ...body, role_uids: [5] })).body).toMatchObject({
    error_code: 'conflicting_fields',
  })
  expect((await send('GET', path)).body).toMatchObject({ name: 'mia', role_uids })
})

test('a role may be sent back as it was read, and signs no user out by that', async () => {
  const { body: role } = await send('POST', '/v1/roles', { name: 'quiet', management: 'db_viewer' })
  const path = `/v1/roles/${String(role['uid'])}`
  await send('POST', '/v1/users', { name: 'ben', password: 'a-good-password', role_uids: [role['uid']] })
  const ben = await running.signIn('ben', 'a-good-password')
  const look = async () => (await running.send('GET', '/v1/users/self', { auth: ben })).status
  expect(await send('PUT', path, role)).toMatchObject({ status: 200, body: role })
  expect(await look()).toBe(200)
  expect(await send('PUT', path, { ...role, uid: 1 })).toMatchObject({ status: 400 })
  expect(await send('PUT', path, { ...role, name: 'louder' })).toMatchObject({ status: 200 })
  expect(await look()).toBe(401)
})

test('version is another word for engine_version at a creation', async () => {
  const create = async (body: object) => {
    const { body: answer } = await send('POST', '/v1/bdbs', { name: 'copy', memory_size: 0, ...body })
    return String(answer['error_code'])
  }
  // There is no agent here, and so no build.
  expect(await create({ engine_version: '8.1.1', version: '8.1.1' })).toBe('unavailable')
  expect(await create({ engine_version: '8.1.1', version: '8.0.1' })).toBe('conflicting_fields')
  expect(await create({ version: 'x' })).toBe('invalid_request')
})
