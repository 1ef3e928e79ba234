import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readStoreKey } from '../../../../../src/store/secret-box.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../../control-plane.ts'
import { isOnPostgres } from '../../../../open-test-store.ts'

/** What a page of this server sends with a change. */
const ofPage = ({ url }: TestControlPlane, cookie?: string) => ({
  origin: new URL(url).origin,
  'sec-fetch-site': 'same-origin',
  'fairlead-request': '1',
  ...(cookie !== undefined && { cookie }),
})
const statusOf = async (server: TestControlPlane, cookie: string) =>
  (await server.send('GET', '/v1/users/self', { headers: { cookie } })).status

test.runIf(isOnPostgres)(
  'the session of a browser is good at both servers, is renewed at either for the other, and ends at both',
  async () => {
    await using one = await startControlPlane()
    const storeKey = readStoreKey(join(one.home, 'store.key'))
    await using other = await startControlPlane({ store: one.config.store, storeKey })
    const passMinutes = (minutes: number) => {
      for (const server of [one, other]) server.pass({ seconds: 60 * minutes })
    }
    const body = { username: 'admin', password: adminPassword }
    const begun = await one.send('POST', '/v1/session', { body, headers: ofPage(one) })
    const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? ''
    expect([begun.status, await statusOf(one, cookie), await statusOf(other, cookie)]).toEqual([
      200, 200, 200,
    ])
    const role = { name: 'theirs', management: 'db_viewer' }
    const created = await other.send('POST', '/v1/roles', { body: role, headers: ofPage(other, cookie) })
    expect(created.status).toBe(200)

    // Unused for 15 minutes it would have ended: each server finds what the other has noted.
    for (const server of [other, one, other, one]) {
      passMinutes(10)
      expect(await statusOf(server, cookie)).toBe(200)
    }
    const ended = await other.send('DELETE', '/v1/session', { headers: ofPage(other, cookie) })
    expect([ended.status, await statusOf(other, cookie)]).toEqual([200, 401])
    one.pass({ seconds: 2 }) // it remembers a session for a second
    expect(await statusOf(one, cookie)).toBe(401)

    const again = await other.send('POST', '/v1/session', { body, headers: ofPage(other) })
    const second = again.headers.get('set-cookie')?.split(';')[0] ?? ''
    expect(await statusOf(one, second)).toBe(200)
    passMinutes(16)
    expect([await statusOf(one, second), await statusOf(other, second)]).toEqual([401, 401])
  },
)
