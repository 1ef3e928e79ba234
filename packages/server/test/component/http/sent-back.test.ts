import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../control-plane.ts'

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
  expect((await send('PUT', path, { role: 'db_member' })).body).toMatchObject({ role_uids })
  expect((await send('GET', path)).body).toMatchObject({ name: 'mia', role_uids })
  // One of the two words for its roles is changed, and the other one is sent back.
  expect((await send('PUT', path, { ...body, role_uids: [5] })).body).toMatchObject({ role: 'db_viewer' })
  const { body: now } = await send('GET', path)
  expect((await send('PUT', path, { ...now, role: 'none' })).body).toMatchObject({ role_uids: [6] })
  expect(await send('PUT', path, { role: 'db_member', role_uids: [5] })).toMatchObject({
    body: { error_code: 'conflicting_fields' },
  })
})

test('a user without the permission to change users sends itself back with another name', async () => {
  const created = await send('POST', '/v1/users', {
    name: 'eve',
    password: 'a-good-password',
    email: 'eve@example.org',
  })
  const path = `/v1/users/${String(created.body['uid'])}`
  const eve = await running.signIn('eve', 'a-good-password')
  const { body } = await running.send('GET', path, { auth: eve })
  const put = (change: object) => running.send('PUT', path, { auth: eve, body: { ...body, ...change } })
  expect(await put({ name: 'Eve' })).toMatchObject({ status: 200, body: { name: 'Eve' } })
  expect((await put({ name: 'Eve', role_uids: [1] })).body['message']).toBe(
    'role_uids: you may change only your name, password and alerts',
  )
})

test('a built-in role that is sent back as it is stays as it is', async () => {
  const { body } = await send('GET', '/v1/roles/1')
  expect(await send('PUT', '/v1/roles/1', body)).toMatchObject({ status: 200, body })
  expect(await send('PUT', '/v1/roles/1', { ...body, name: 'Boss' })).toMatchObject({ status: 406 })
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

test('version is another word for engine_version at a creation, and a body that was read of another database says the same in three words', async () => {
  const create = async (body: object) => {
    const { body: answer } = await send('POST', '/v1/bdbs', { name: 'copy', memory_size: 0, ...body })
    return String(answer['error_code'])
  }
  // There is no agent here, and so no build.
  expect(await create({ engine_version: '8.1.1', version: '8.1.1' })).toBe('unavailable')
  expect(await create({ engine_version: '8.1.1', version: '8.0.1' })).toBe('conflicting_fields')
  expect(await create({ version: 'x' })).toBe('invalid_request')
  // As answers have them.
  const read = { engine_version: '8.0.2', version: '8.0.2', redis_version: '8.0' }
  expect(await create(read)).toBe('unavailable')
  expect(await create({ version: '8.0.2', redis_version: '8.0' })).toBe('unavailable')
  expect(await create({ ...read, redis_version: '8.1' })).toBe('conflicting_fields')
  const states = { backup_status: '', export_progress: 0, bigstore_version: 1, crdt_modules: '[]' }
  expect(await create(states)).toBe('unavailable')
})
