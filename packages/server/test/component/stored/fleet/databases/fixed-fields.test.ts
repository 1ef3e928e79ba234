import { fixedDatabaseFields, neutralDatabaseFields } from '@fairlead/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { databasesStore } from '../../../../../src/fleet/stores/databases-store.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../../control-plane.ts'
import { databaseOf } from '../../../../records.ts'

/* There is no agent here: a change that is taken ends with 503. */

let running: TestControlPlane
let auth: string
beforeAll(async () => {
  running = await startControlPlane()
  await running.withStore(async ({ db }) => {
    for (const tls of [false, true]) {
      const { uid } = await databasesStore(db).insert({
        ...databaseOf({ name: `tls-${tls}`, tls }),
        groups: 1,
      })
      await databasesStore(db).setStatus(uid, 'creation-failed', '2026-11-21T12:00:00.000Z')
    }
  })
  auth = await running.signIn('admin', adminPassword)
})
afterAll(() => running[Symbol.asyncDispose]())

const show = async (uid: number) => (await running.send('GET', `/v1/bdbs/${uid}`, { auth })).body

test('a database is answered with the fields of the wider API, each with a value that a creation takes', async () => {
  const answer = await show(1)
  const fields = neutralDatabaseFields.filter(({ name }) => name in fixedDatabaseFields)
  expect(fields.length).toBeGreaterThan(60)
  for (const { name, taken } of fields)
    expect([name, taken]).toEqual([name, expect.arrayContaining([answer[name]])])
  expect(answer).toMatchObject(fixedDatabaseFields)
})

test('what was read may be sent back as it is, with its older words for TLS too', async () => {
  for (const uid of [1, 2]) {
    const whole = await show(uid)
    const { status, body } = await running.send('PUT', `/v1/bdbs/${uid}`, { auth, body: whole })
    expect([status, body['error_code']]).toEqual([503, 'unavailable'])
    // As it was read before another request changed the database.
    const older = { ...whole, status: 'active-change-pending', last_changed_time: '2020-01-01T00:00:00Z' }
    expect((await running.send('PUT', `/v1/bdbs/${uid}`, { auth, body: older })).status).toBe(503)
    const empty = { engine_version: '', redis_version: '', authentication_redis_pass: '' }
    expect((await running.send('PUT', `/v1/bdbs/${uid}`, { auth, body: empty })).status).toBe(503)
    const ssl = await running.send('PUT', `/v1/bdbs/${uid}`, { auth, body: { ssl: false } })
    expect(ssl.status).toBe(503)
  }
  expect(await show(1)).toMatchObject({
    tls_mode: 'disabled',
    ssl: false,
    background_op: [{ status: 'idle' }],
  })
  expect(await show(2)).toMatchObject({ tls_mode: 'enabled', ssl: true })
  const other = await running.send('PUT', '/v1/bdbs/1', { auth, body: { ssl: true } })
  expect([other.status, other.body['message']]).toEqual([
    400,
    expect.stringMatching(/^ssl: cannot be changed/),
  ])
})

test('the older word for TLS is refused beside a newer one that says no', async () => {
  const body = { name: 'both', memory_size: 0, ssl: true, tls_mode: 'disabled' }
  const answer = await running.send('POST', '/v1/bdbs', { auth, body })
  expect(answer.body).toMatchObject({
    error_code: 'conflicting_fields',
    message: expect.stringContaining('ssl true'),
  })
})
