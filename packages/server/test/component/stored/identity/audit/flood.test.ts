import { afterEach, beforeEach, expect, test } from 'vitest'
import { verifyAuditOf } from '../../../../../src/operator/operator-link.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../../control-plane.ts'

let fairlead: TestControlPlane
let admin: string
beforeEach(async () => {
  fairlead = await startControlPlane()
  admin = await fairlead.signIn('admin', adminPassword, 86_400)
  const body = { name: 'mia', password: 'a-password-of-mine', role: 'none' }
  await fairlead.send('POST', '/v1/users', { auth: admin, body })
})
afterEach(() => fairlead[Symbol.asyncDispose]())

interface Entry {
  readonly type: string
  readonly bdb_uid?: string
  readonly details: { readonly times?: number; readonly of?: string }
}
const refusals = async () => {
  const { body } = await fairlead.send('GET', '/v1/logs?limit=10000', { auth: admin })
  return (body as unknown as readonly Entry[]).filter(({ type }) => type === 'permission_refused')
}
const total = (entries: readonly Entry[]) =>
  entries.reduce((sum, { details }) => sum + (details.times ?? 1), 0)

test('a user who is refused repeatedly causes a few records an hour, and each refusal is counted', async () => {
  const mia = await fairlead.signIn('mia', 'a-password-of-mine', 86_400)
  const ask = (path: string) => fairlead.send('GET', path, { auth: mia })
  for (let n = 0; n < 400; n += 1) expect((await ask('/v1/users')).status).toBe(403)
  for (let n = 1; n <= 400; n += 1) await ask(`/v1/bdbs/${n}`)

  const during = await refusals()
  expect(during.length).toBeLessThan(100)
  expect(during.filter(({ bdb_uid }) => bdb_uid !== undefined).length).toBeGreaterThan(10) // the first ones are records of their own
  expect(during.some(({ details }) => (details.times ?? 0) >= 90)).toBe(true) // the hundredth record counts those before it

  fairlead.pass({ seconds: 3_601 })
  await ask('/v1/users')
  const after = await refusals()
  expect(total(after)).toBe(801)
  expect(after.length).toBeLessThan(110)
  expect((await verifyAuditOf(fairlead.config, undefined)).fault).toBeUndefined()
})

test('counts are written when the server stops', async () => {
  const mia = await fairlead.signIn('mia', 'a-password-of-mine', 86_400)
  for (let n = 0; n < 50; n += 1) await fairlead.send('GET', '/v1/users', { auth: mia })
  await fairlead.restart()
  const entries = await refusals()
  expect([entries.length, total(entries)]).toEqual([11, 50])
})
