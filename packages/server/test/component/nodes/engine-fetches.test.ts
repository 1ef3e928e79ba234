import { afterEach, beforeEach, expect, test } from 'vitest'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../control-plane.ts'

let fairlead: TestControlPlane
let admin: string
beforeEach(async () => {
  fairlead = await startControlPlane()
  admin = await fairlead.signIn('admin', adminPassword)
})
afterEach(() => fairlead[Symbol.asyncDispose]())

const send = (method: string, body?: object, auth = admin) =>
  fairlead.send(method, '/v1/engine_versions/fetches', { auth, ...(body && { body }) })
const lastRecords = async (many: number) => {
  const { body } = await fairlead.send('GET', '/v1/logs', { auth: admin })
  return (body as unknown as readonly object[]).slice(-many)
}

test('without its agent a server fetches nothing, and the audit has the user who asked for it', async () => {
  expect(await send('POST', { engine: 'valkey', engine_version: '8.1' })).toMatchObject({
    status: 503,
    body: { error_code: 'unavailable' },
  })
  expect(await send('GET')).toMatchObject({ status: 503, body: { error_code: 'unavailable' } })
  expect(await lastRecords(1)).toMatchObject([
    {
      type: 'engine_fetch_requested',
      severity: 'INFO',
      originator: 'admin',
      details: { engine: 'valkey', version: '8.1', also_unstable: false },
    },
  ])
})

test('a viewer may not fetch a build, which is in the audit, too', async () => {
  const body = { name: 'eve', password: 'only-looks-at-it', role: 'cluster_viewer' }
  await fairlead.send('POST', '/v1/users', { auth: admin, body })
  const eve = await fairlead.signIn('eve', 'only-looks-at-it')
  expect(await send('POST', { engine: 'valkey' }, eve)).toMatchObject({
    status: 403,
    body: { error_code: 'forbidden' },
  })
  expect(await lastRecords(1)).toMatchObject([
    { type: 'permission_refused', originator: 'eve', details: { permission: 'update_cluster' } },
  ])
  expect((await send('GET', undefined, eve)).status).toBe(503)
})
