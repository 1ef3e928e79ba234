import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claimPorts } from '../../../../../../proof/claim-ports.ts'
import { adminPassword, basic, startControlPlane, type TestControlPlane } from '../../../control-plane.ts'
import { httpsClient } from '../../../https-client.ts'

const opened = new AsyncDisposableStack()
let fairlead: TestControlPlane
let httpsPort: number
/** The clock is moved by days: a token would end. */
let admin = basic('admin', adminPassword)
beforeAll(async () => {
  httpsPort = opened.use(await claimPorts()).from
  fairlead = opened.use(
    await startControlPlane({ httpsPort, sessionHours: 12, hostNames: ['fairlead.example.org'] }),
  )
})
afterAll(() => opened.disposeAsync())

interface Heard {
  readonly status: number
  readonly code: unknown
  readonly body: Record<string, unknown>
  /** What `set-cookie` of the answer says. */
  readonly given: string
}

/** Sends exactly these headers, as a browser or an attacker would. */
async function ask(method: string, path: string, headers = {}, body?: object): Promise<Heard> {
  const json = body && { 'content-type': 'application/json' }
  const sent = request(new URL(path, fairlead.url), { method, headers: { ...json, ...headers } })
  sent.end(body && JSON.stringify(body))
  const [response] = await once(sent, 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  const answer = JSON.parse(text)
  const given = [response.headers['set-cookie'] ?? []].flat().join()
  return { status: response.statusCode, code: answer.error_code, body: answer, given }
}

/** What a browser sends with a change that a page of this server makes. */
const own = () => ({ origin: fairlead.url, 'sec-fetch-site': 'same-origin', 'fairlead-request': '1' })
const login = { username: 'admin', password: adminPassword }
const signIn = async (body: object = login) => {
  const { status, given } = await ask('POST', '/v1/session', own(), body)
  expect(status).toBe(200)
  return given.split(';')[0] ?? ''
}
const self = (cookie: string, headers = {}) => ask('GET', '/v1/users/self', { cookie, ...headers })
let roles = 0
const createRole = (cookie: string, headers: object) => {
  roles += 1
  return ask('POST', '/v1/roles', { cookie, ...headers }, { name: `role ${roles}`, management: 'db_viewer' })
}

test('a browser gets a cookie that no script can read, and is signed in by it, also after a restart of the server', async () => {
  const { status, given, body } = await ask('POST', '/v1/session', own(), login)
  expect([status, body]).toMatchObject([200, { idle_seconds: 900 }])
  expect(given).toMatch(/^fairlead-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
  const cookie = given.split(';')[0] ?? ''
  expect(JSON.stringify(body)).not.toContain(cookie.split('=')[1])
  expect((await self(cookie)).body).toMatchObject({ name: 'admin', signed_in_by: 'session' })
  await fairlead.restart()
  expect((await createRole(`theme=dark; ${cookie}; x`, own())).status).toBe(200)
  const { body: entries } = await fairlead.send('GET', '/v1/logs?order=desc&limit=10', { auth: admin })
  expect(entries).toContainEqual(
    expect.objectContaining({
      type: 'login_succeeded',
      details: expect.objectContaining({ via: 'session' }),
    }),
  )
  await fairlead.withStore(async ({ db }) => {
    const rows = await db.selectFrom('sessions').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(cookie.split('=')[1])
  })
})

test('over TLS the cookie is Secure, and that of a connection without TLS does not count', async () => {
  using client = httpsClient(httpsPort, readFileSync(join(fairlead.home, 'ca.pem'), 'utf8'))
  const host = { host: `localhost:${httpsPort}` }
  const headers = { ...own(), ...host, origin: `https://localhost:${httpsPort}` }
  const begun = await client.send('POST', '/v1/session', { headers, body: login })
  const given = begun.headers.get('set-cookie') ?? ''
  expect(given).toMatch(/^__Host-fairlead-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/)
  const cookie = given.split(';')[0] ?? ''
  const statusOf = async (method: string, path: string, sent: Record<string, string>) =>
    (await client.send(method, path, { headers: sent })).status
  const seen = await client.send('GET', '/v1/users/self', { headers: { ...host, cookie } })
  expect(seen.body).toMatchObject({ signed_in_by: 'session' })
  const plain = cookie.replace('__Host-', '')
  expect(await statusOf('GET', '/v1/users/self', { ...host, cookie: plain })).toBe(401)
  const foreign = { ...headers, cookie, origin: `http://localhost:${httpsPort}` }
  expect(await statusOf('DELETE', '/v1/session', foreign)).toBe(403)
  expect(await statusOf('DELETE', '/v1/session', { ...headers, cookie })).toBe(200)
})

// invariant: A change with a session cookie comes from a page of this server.
describe('a change with a session', () => {
  const evil = 'http://evil.example'
  let cookie: string | undefined
  const port = () => new URL(fairlead.url).port
  test.each<readonly [string, () => Record<string, string>]>([
    ['without our header', () => ({ origin: fairlead.url, 'sec-fetch-site': 'same-origin' })],
    ['with another value of it', () => ({ ...own(), 'fairlead-request': '0' })],
    ['of a browser that says nothing', () => ({ 'fairlead-request': '1' })],
    ['of another site', () => ({ ...own(), origin: evil, 'sec-fetch-site': 'cross-site' })],
    ['of another site, by its Origin alone', () => ({ origin: evil, 'fairlead-request': '1' })],
    ['of a page at another port', () => ({ ...own(), origin: 'http://127.0.0.1:1' })],
    ['of a page at another port, as browsers tell it', () => ({ ...own(), 'sec-fetch-site': 'same-site' })],
    ['of a page without an origin', () => ({ ...own(), origin: 'null' })],
    [
      'of a page with a name that begins as ours',
      () => ({ ...own(), origin: `http://127.0.0.1.evil.example:${port()}` }),
    ],
    [
      'of a page with our name as its user',
      () => ({ ...own(), origin: `http://127.0.0.1:${port()}@evil.example` }),
    ],
    ['of another kind of page', () => ({ ...own(), origin: `ftp://127.0.0.1:${port()}` })],
  ])('%s is refused, and so is a login', async (_, headers) => {
    cookie ??= await signIn()
    expect(await createRole(cookie, headers())).toMatchObject({ status: 403, code: 'foreign_page' })
    const begun = await ask('POST', '/v1/session', headers(), login)
    expect(begun).toMatchObject({ status: 403, code: 'foreign_page', given: '' })
    expect((await self(cookie)).status).toBe(200)
  })

  test.each<readonly [string, () => Record<string, string>]>([
    ['of our page', own],
    ['of an older browser', () => ({ origin: fairlead.url, 'fairlead-request': '1' })],
    [
      'of a page behind a proxy that ends TLS',
      () => ({
        ...own(),
        host: 'fairlead.example.org',
        origin: 'https://fairlead.example.org',
      }),
    ],
  ])('%s is done', async (_, headers) => {
    cookie ??= await signIn()
    expect((await createRole(cookie, headers())).status).toBe(200)
  })

  test('to a name that a page has pointed at this machine is not heard', async () => {
    const cookie = await signIn()
    const rebound = { host: `evil.example:${port()}`, origin: `http://evil.example:${port()}` }
    for (const [method, path, body] of [
      ['POST', '/v1/roles', { name: 'b', management: 'none' }],
      ['POST', '/v1/session', login],
      ['GET', '/v1/users/self', undefined],
    ] as const) {
      const heard = await ask(method, path, { ...own(), ...rebound, cookie }, body)
      expect([heard.status, heard.given]).toEqual([400, ''])
    }
  })
})

test('the cookie does not count in questions that pages of others ask, and a person may type an address', async () => {
  const cookie = await signIn()
  expect((await self(cookie, { 'sec-fetch-site': 'none' })).status).toBe(200)
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'http://evil.example' },
  ])
    expect(await self(cookie, headers)).toMatchObject({ status: 401, code: 'unauthorized' })
  // What is no cookie of ours is none, and an Authorization header counts before it.
  expect((await self('fairlead-session=; fairlead-session')).status).toBe(401)
  expect((await self(`fairlead-session=${'a'.repeat(43)}`)).code).toBe('unauthorized')
  expect((await self(cookie, { authorization: admin })).body['signed_in_by']).toBe('password')
})

test('a session ends when it is not used, and at its last moment however much it is used', async () => {
  const cookie = await signIn()
  for (let minutes = 0; minutes < 60; minutes += 10) {
    fairlead.pass({ seconds: 600 })
    expect((await self(cookie)).status).toBe(200)
  }
  // A minute less: the time that this takes passes, too.
  fairlead.pass({ seconds: 840 })
  expect((await self(cookie)).status).toBe(200)
  fairlead.pass({ seconds: 901 })
  expect((await self(cookie)).status).toBe(401)
  expect((await self(cookie)).status).toBe(401)

  const used = await signIn()
  for (let minutes = 0; minutes < 12 * 60 - 14; minutes += 14) {
    fairlead.pass({ seconds: 14 * 60 })
    if ((await self(used)).status !== 200) throw new Error(`ended after ${minutes} minutes`)
  }
  fairlead.pass({ seconds: 14 * 60 })
  expect((await self(used)).status).toBe(401)
})

test('DELETE ends a session at once, and nothing else', async () => {
  const [cookie, other] = [await signIn(), await signIn()]
  const ended = await ask('DELETE', '/v1/session', { ...own(), cookie })
  expect(ended).toMatchObject({ status: 200, body: { ended: true } })
  expect(ended.given).toMatch(/^fairlead-session=; Path=\/; HttpOnly; SameSite=Strict; Max-Age=0$/)
  expect([(await self(cookie)).status, (await self(other)).status]).toEqual([401, 200])
  expect(await ask('DELETE', '/v1/session', { authorization: admin })).toMatchObject({
    status: 400,
    code: 'invalid_request',
  })
  expect((await ask('POST', '/v1/users/logout', { ...own(), cookie: other })).status).toBe(200)
  expect((await self(other)).status).toBe(401)
})

test('no token comes out of a session', async () => {
  const headers = { ...own(), cookie: await signIn() }
  const renewed = await ask('POST', '/v1/users/refresh_jwt', headers, {})
  expect(renewed).toMatchObject({ status: 400, code: 'invalid_request' })
})

test('a new password, other roles, an expired password and a deletion end the sessions of a user', async () => {
  const change = async (method: string, path: string, body?: object) =>
    expect((await fairlead.send(method, path, { auth: admin, ...(body && { body }) })).status).toBe(200)
  const mia = { username: 'mia', password: 'a-password-of-mine' }
  const user = { name: 'mia', password: mia.password, role: 'db_member' }
  const { uid } = (await fairlead.send('POST', '/v1/users', { auth: admin, body: user })).body
  const steps = [
    () => change('PUT', `/v1/users/${uid}`, { role: 'db_viewer' }),
    () => change('PUT', '/v1/users/password', { username: 'mia', new_password: 'a-new-password' }),
    () => change('DELETE', `/v1/users/${uid}`),
  ]
  for (const [n, step] of steps.entries()) {
    const cookie = await signIn(n === 2 ? { ...mia, password: 'a-new-password' } : mia)
    expect((await self(cookie)).status).toBe(200)
    await step()
    expect((await self(cookie)).status).toBe(401)
  }
  // Last: the password of the admin is older than a day by now.
  await change('PUT', '/v1/users/password', { username: 'admin', new_password: 'another-password' })
  const cookie = await signIn({ ...login, password: 'another-password' })
  admin = basic('admin', 'another-password')
  await change('PUT', '/v1/cluster', { password_expiration_duration: 1 })
  for (let minutes = 0; minutes < 25 * 60; minutes += 10) {
    fairlead.pass({ seconds: 600 })
    await self(cookie)
  }
  expect((await self(cookie)).status).toBe(401)
})
