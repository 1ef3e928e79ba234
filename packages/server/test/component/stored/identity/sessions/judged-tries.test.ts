import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readStoreKey } from '../../../../../src/store/secret-box.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../../control-plane.ts'
import { isOnPostgres } from '../../../../open-test-store.ts'

const password = 'a-password-of-mine'
let fairlead: TestControlPlane
let auth: string
beforeEach(async () => {
  fairlead = await startControlPlane()
  auth = await fairlead.signIn('admin', adminPassword)
  await fairlead.send('POST', '/v1/users', { auth, body: { name: 'mia', password } })
})
afterEach(() => fairlead[Symbol.asyncDispose]())

/** So many wrong tries of mia at once, in turn at each of these servers. */
async function tryWrong(times: number, ...servers: readonly TestControlPlane[]): Promise<void> {
  const tries = Array.from({ length: times }, async (_, n) =>
    servers[n % servers.length]?.send('POST', '/v1/users/authorize', {
      body: { username: 'mia', password: `wrong-${n}` },
    }),
  )
  await Promise.all(tries)
}
const isLetIn = async (server: TestControlPlane) =>
  (await server.send('POST', '/v1/users/authorize', { body: { username: 'mia', password } })).status === 200

/** How tries were judged, as the audit has them. */
async function verdicts(): Promise<Record<string, number>> {
  const { body } = await fairlead.send('GET', '/v1/logs?limit=10000', { auth })
  const found: Record<string, number> = {}
  for (const { type, details } of body as unknown as { type: string; details: { why?: string } }[])
    if (type === 'login_failed') found[details.why ?? ''] = (found[details.why ?? ''] ?? 0) + 1
  return found
}

test('when all tries come at once no more than five are judged, and the user is locked then', async () => {
  await tryWrong(9, fairlead)
  expect(await verdicts()).toEqual({ wrong: 5, locked: 4 })
  expect(await isLetIn(fairlead)).toBe(false)
})

test.runIf(isOnPostgres)('no more than five tries are judged if they come to two servers', async () => {
  const storeKey = readStoreKey(join(fairlead.home, 'store.key'))
  await using other = await startControlPlane({ store: fairlead.config.store, storeKey })
  await tryWrong(10, fairlead, other)
  expect(await verdicts()).toEqual({ wrong: 5, locked: 5 })
  expect([await isLetIn(fairlead), await isLetIn(other)]).toEqual([false, false])
})
