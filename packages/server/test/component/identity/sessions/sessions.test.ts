import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { adminPassword, basic, startControlPlane, type TestControlPlane } from '../../../control-plane.ts'

let fairlead: TestControlPlane
let admin: string
beforeEach(async () => {
  fairlead = await startControlPlane()
  admin = await fairlead.signIn('admin', adminPassword)
  await createUser('mia')
})
afterEach(() => fairlead[Symbol.asyncDispose]())

const password = 'a-password-of-mine'
async function createUser(name: string, fields: object = {}): Promise<number> {
  const { body } = await fairlead.send('POST', '/v1/users', {
    auth: admin,
    body: { name, password, ...fields },
  })
  return Number(body['uid'])
}
const authorize = (body: object) => fairlead.send('POST', '/v1/users/authorize', { body })
const setCluster = (body: object) => fairlead.send('PUT', '/v1/cluster', { auth: admin, body })
const statusOf = async (auth: string) => (await fairlead.send('GET', '/v1/bdbs', { auth })).status
const codeOf = async (auth: string) => (await fairlead.send('GET', '/v1/bdbs', { auth })).body['error_code']

describe('authorize', () => {
  test('gives a token for a name or an e-mail, in any letter case, and the right password', async () => {
    await createUser('nils', { email: 'Nils@example.org' })
    for (const username of ['nils', 'NILS', 'nils@EXAMPLE.org']) {
      const { status, body } = await authorize({ username, password })
      expect([status, Object.keys(body)]).toEqual([200, ['access_token']])
    }
  })

  const malformed: Readonly<Record<string, readonly [unknown, RegExp]>> = {
    'a missing name': [{ password }, /username: is missing/],
    'a missing password': [{ username: 'mia' }, /password: is missing/],
    'an empty name': [{ username: '', password }, /username: .*at least 1 character/],
    'an empty password': [{ username: 'mia', password: '' }, /password: .*at least 1 character/],
    'an oversized name': [{ username: 'm'.repeat(257), password }, /username: .*at most 256 characters/],
    'an oversized password': [
      { username: 'mia', password: 'x'.repeat(257) },
      /password: .*at most 256 characters/,
    ],
    'a number for a name': [{ username: 1, password }, /username: must be a string/],
    'an unknown field': [{ username: 'mia', password, otp: '1' }, /otp: is not a field/],
    'no life': [{ username: 'mia', password, ttl: 0 }, /ttl: must be >= 1/],
    'a life of more than a day': [{ username: 'mia', password, ttl: 86_401 }, /ttl: must be <= 86400/],
    'half a second': [{ username: 'mia', password, ttl: 0.5 }, /ttl: must be/],
    'no object': ['[]', /must be an object/],
    'no JSON': ['{', /cannot be understood/],
  }
  for (const [what, [body, message]] of Object.entries(malformed)) {
    test(`refuses ${what} with 400`, async () => {
      const answer = await fairlead.send('POST', '/v1/users/authorize', { body })
      expect(answer).toMatchObject({ status: 400, body: { error_code: 'invalid_request' } })
      expect(answer.body['message']).toMatch(message)
    })
  }

  // invariant: A failed login has the same answer for every reason.
  test('answers an unknown user, a wrong password, a locked, a disabled and an expired user in the same words', async () => {
    const locked = await createUser('locked')
    for (let tries = 0; tries < 5; tries += 1) await authorize({ username: 'locked', password: 'wrong' })
    const disabled = await createUser('disabled')
    await fairlead.send('PUT', `/v1/users/${disabled}`, { auth: admin, body: { disabled: true } })
    expect((await fairlead.send('GET', `/v1/users/${locked}`, { auth: admin })).body['status']).toBe('locked')

    const answers = [
      await authorize({ username: 'nobody', password }),
      await authorize({ username: 'mia', password: 'wrong' }),
      await authorize({ username: 'locked', password }),
      await authorize({ username: 'disabled', password }),
    ]
    await setCluster({ password_expiration_duration: 1 })
    fairlead.pass({ days: 2 })
    answers.push(await authorize({ username: 'mia', password: 'wrong' }))
    for (const { status, body } of answers) {
      expect([status, body]).toEqual([401, answers[0]?.body])
      expect(body['error_code']).toBe('invalid_credentials')
    }
  })

  test('says that the password has expired after the right password only, and that can be changed', async () => {
    await setCluster({ password_expiration_duration: 30 })
    fairlead.pass({ days: 29 })
    expect((await authorize({ username: 'mia', password })).status).toBe(200)
    fairlead.pass({ days: 1 })
    expect(await authorize({ username: 'mia', password })).toMatchObject({
      status: 401,
      body: { error_code: 'password_expired' },
    })
    expect(await codeOf(basic('mia', password))).toBe('password_expired')
    const changed = await fairlead.send('PUT', '/v1/users/password', {
      auth: basic('mia', password),
      body: { new_password: 'another-password' },
    })
    expect(changed.status).toBe(200)
    expect((await authorize({ username: 'mia', password: 'another-password' })).status).toBe(200)
    expect((await authorize({ username: 'mia', password })).body['error_code']).toBe('invalid_credentials')
  })
})

test('of many logins at once a part is answered, the rest get Retry-After, and other requests are served', async () => {
  // A derivation takes longer than a request until its derivation.
  await using busy = await startControlPlane({ hashCost: { memoryKiB: 19_456, passes: 2, parallelism: 1 } })
  const auth = await busy.signIn('admin', adminPassword)
  const storm = Array.from({ length: 100 }, () =>
    busy.send('POST', '/v1/users/authorize', { body: { username: 'admin', password: adminPassword } }),
  )
  expect((await busy.send('GET', '/v1/bdbs', { auth })).status).toBe(200)
  const answers = await Promise.all(storm)
  const sentAway = answers.filter(({ status }) => status === 429)
  expect(sentAway.length).toBeGreaterThan(0)
  for (const { headers, body } of sentAway) {
    expect([headers.get('retry-after'), body['error_code']]).toEqual(['1', 'too_many_requests'])
  }
  expect(answers.filter(({ status }) => status === 200).length).toBe(100 - sentAway.length)
})

describe('a user is locked', () => {
  const fail = async (times: number) => {
    for (let n = 0; n < times; n += 1) await authorize({ username: 'mia', password: 'wrong' })
  }
  const right = async () => (await authorize({ username: 'mia', password })).status

  test('by five wrong passwords in a row, for half an hour', async () => {
    await fail(4)
    expect(await right()).toBe(200)
    await fail(4)
    expect(await right()).toBe(200) // the right one began the row anew
    await fail(5)
    expect(await right()).toBe(401)
    // A minute less: the time that this takes passes, too.
    fairlead.pass({ seconds: 1_740 })
    expect(await right()).toBe(401)
    fairlead.pass({ seconds: 60 })
    expect(await right()).toBe(200)
  })

  test('not by wrong passwords that are a quarter of an hour apart', async () => {
    await fail(4)
    fairlead.pass({ seconds: 901 })
    await fail(4)
    expect(await right()).toBe(200)
  })

  test('until an admin sets a new password, which unlocks at once; or never, as the policy says', async () => {
    const policy = (body: object) => fairlead.send('PUT', '/v1/cluster/policy', { auth: admin, body })
    await policy({ login_lockout_threshold: 2, login_lockout_duration: 0 })
    await fail(2)
    fairlead.pass({ days: 400 })
    expect(await right()).toBe(401)
    admin = await fairlead.signIn('admin', adminPassword)
    await fairlead.send('PUT', '/v1/users/2', { auth: admin, body: { password: 'another-password' } })
    expect((await authorize({ username: 'mia', password: 'another-password' })).status).toBe(200)
    await fairlead.send('PUT', '/v1/cluster/policy', { auth: admin, body: { login_lockout_threshold: 0 } })
    await fail(20)
    expect((await authorize({ username: 'mia', password: 'another-password' })).status).toBe(200)
  })
})

describe('a request may be authorized', () => {
  test('with Bearer, JWT and Basic, in any letter case', async () => {
    const token = (await fairlead.signIn('mia', password)).replace('Bearer ', '')
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'JWT', 'jwt', 'Jwt']) {
      expect(await statusOf(`${scheme} ${token}`)).toBe(200)
    }
    for (const scheme of ['Basic', 'basic', 'BASIC']) {
      expect(await statusOf(basic('mia', password).replace('Basic', scheme))).toBe(200)
    }
  })

  test('with nothing else', async () => {
    const bearer = 'Bearer realm="fairlead"'
    const token = (await fairlead.signIn('mia', password)).replace('Bearer ', '')
    const headers = [
      '',
      token,
      `Digest ${token}`,
      `Bearer ${token} x`,
      'Basic !',
      'Basic',
      `Bearer ${token}x`,
    ]
    for (const auth of headers) {
      const { status, headers: sent } = await fairlead.send('GET', '/v1/bdbs', { auth })
      const isBasic = auth.startsWith('Basic ')
      const challenges = isBasic ? bearer : `${bearer}, Basic realm="fairlead", charset="UTF-8"`
      expect([auth, status, sent.get('www-authenticate')]).toEqual([auth, 401, challenges])
    }
    expect(await codeOf(basic('mia', 'wrong'))).toBe('invalid_credentials')
    // A browser would open a window of its own for Basic.
    const ofBrowser = (await fairlead.send('GET', '/v1/bdbs', { headers: { 'user-agent': 'Mozilla/5.0' } }))
      .headers
    expect(ofBrowser.get('www-authenticate')).toBe(bearer)
  })

  test('with Basic in UTF-8, and in Latin-1 as some libraries send it', async () => {
    await fairlead.send('PUT', '/v1/users/password', {
      auth: basic('mia', password),
      body: { old_password: password, new_password: 'Pässwörd-2026' },
    })
    for (const encoding of ['utf8', 'latin1'] as const) {
      const auth = `Basic ${Buffer.from('mia:Pässwörd-2026', encoding).toString('base64')}`
      expect(await statusOf(auth)).toBe(200)
    }
    await fairlead.send('PUT', '/v1/users/password', {
      auth: basic('mia', 'Pässwörd-2026'),
      body: { old_password: 'Pässwörd-2026', new_password: password },
    })
  })

  test('with Basic only while the cluster allows it', async () => {
    expect(await statusOf(basic('mia', password))).toBe(200)
    await setCluster({ control_plane_basic_authentication: false })
    fairlead.pass({ seconds: 2 }) // other servers hear of a setting within a second
    expect(await codeOf(basic('mia', password))).toBe('unauthorized')
    expect(await statusOf(await fairlead.signIn('mia', password))).toBe(200)
    // A sign-in does not count as a request with a password: the wider API has no other way to a token.
    const auth = basic('mia', password)
    expect(await fairlead.send('POST', '/v1/users/authorize', { auth })).toMatchObject({ status: 200 })
  })

  test('with Basic whose password stays right when the roles change, without a refusal in between', async () => {
    expect(await statusOf(basic('mia', password))).toBe(200)
    await fairlead.send('PUT', '/v1/users/2', { auth: admin, body: { role: 'user_manager' } })
    const { status } = await fairlead.send('GET', '/v1/users', { auth: basic('mia', password) })
    expect(status).toBe(200)
  })

  test('with Basic whose password is counted like any other, and remembered only while it is right', async () => {
    expect(await statusOf(basic('mia', password))).toBe(200)
    for (let n = 0; n < 5; n += 1) expect(await statusOf(basic('mia', 'wrong'))).toBe(401)
    expect(await statusOf(basic('mia', password))).toBe(401)
    await fairlead.send('PUT', '/v1/users/2', { auth: admin, body: { password: 'another-password' } })
    expect(await statusOf(basic('mia', password))).toBe(401)
    expect(await statusOf(basic('mia', 'another-password'))).toBe(200)
  })
})

describe('a token ends before its time', () => {
  const changes: Readonly<Record<string, () => Promise<unknown>>> = {
    'when the password changes': () =>
      fairlead.send('PUT', '/v1/users/2', { auth: admin, body: { password: 'another-password' } }),
    'when the roles change': () =>
      fairlead.send('PUT', '/v1/users/2', { auth: admin, body: { role_uids: [1] } }),
    'when the user is disabled': () =>
      fairlead.send('PUT', '/v1/users/2', { auth: admin, body: { disabled: true } }),
    'when the user is deleted': () => fairlead.send('DELETE', '/v1/users/2', { auth: admin }),
  }
  for (const [what, change] of Object.entries(changes)) {
    test(`${what}, and other users' tokens do not`, async () => {
      const token = await fairlead.signIn('mia', password)
      expect(await statusOf(token)).toBe(200)
      await change()
      expect([await codeOf(token), await statusOf(admin)]).toEqual(['unauthorized', 200])
    })
  }

  test('when it is logged out, alone, and permanently', async () => {
    const [one, other] = [await fairlead.signIn('mia', password), await fairlead.signIn('mia', password)]
    expect((await fairlead.send('POST', '/v1/users/logout', { auth: one })).body).toEqual({
      logged_out: true,
    })
    expect([await codeOf(one), await statusOf(other)]).toEqual(['unauthorized', 200])
    await fairlead.restart()
    expect([await codeOf(one), await statusOf(other)]).toEqual(['unauthorized', 200])
    expect(await fairlead.send('POST', '/v1/users/logout', { auth: basic('mia', password) })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('no token to end') },
    })
  })

  test('when it is logged out, also if the clock was hours ahead for a while', async () => {
    const ended = await fairlead.signIn('mia', password, 1_800)
    await fairlead.send('POST', '/v1/users/logout', { auth: ended })
    fairlead.pass({ seconds: 7_200 })
    const other = await fairlead.signIn('mia', password)
    await fairlead.send('POST', '/v1/users/logout', { auth: other })
    fairlead.pass({ seconds: -7_200 })
    await fairlead.restart()
    expect(await codeOf(ended)).toBe('unauthorized')
  })
})

test('a token is renewed with a chosen lifetime, and not when the password has expired', async () => {
  const token = await fairlead.signIn('mia', password, 60)
  const refresh = (auth: string, body: object) =>
    fairlead.send('POST', '/v1/users/refresh_jwt', { auth, body })
  fairlead.pass({ seconds: 50 })
  const longer = (await refresh(token, { ttl: 86_400 })).body
  fairlead.pass({ seconds: 20 })
  expect((await refresh(token, {})).status).toBe(401)
  expect(await statusOf(`JWT ${longer['access_token']}`)).toBe(200)
  await setCluster({ password_expiration_duration: 1 })
  fairlead.pass({ seconds: 86_400 - 50 })
  expect((await refresh(`JWT ${longer['access_token']}`, {})).body['error_code']).toBe('password_expired')
})

test('tokens are renewed for a week after the password, then it is asked for again; Basic shows it each time', async () => {
  const refresh = (auth: string, body: object = { ttl: 86_400 }) =>
    fairlead.send('POST', '/v1/users/refresh_jwt', { auth, body })
  let token = await fairlead.signIn('mia', password, 86_400)
  for (let hours = 0; hours < 168 - 23; hours += 23) {
    fairlead.pass({ seconds: 23 * 3_600 })
    const { status, body } = await refresh(token)
    expect([hours, status]).toEqual([hours, 200])
    token = `Bearer ${body['access_token']}`
  }
  fairlead.pass({ seconds: 7 * 3_600 - 60 })
  const { body: last } = await refresh(token)
  const { exp, auth_time } = decodeJwt(String(last['access_token']))
  expect(Number(exp) - Number(auth_time)).toBe(7 * 86_400)
  fairlead.pass({ seconds: 70 })
  expect(await codeOf(`Bearer ${last['access_token']}`)).toBe('unauthorized')
  expect((await refresh(basic('mia', password))).status).toBe(200)
})

test('others verify our tokens with the keys that we publish', async () => {
  const token = (await fairlead.signIn('mia', password)).replace('Bearer ', '')
  const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', fairlead.url))
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    issuer: 'fairlead',
    audience: 'fairlead-api',
  })
  expect(protectedHeader).toMatchObject({ alg: 'EdDSA', kid: expect.any(String) })
  expect(payload).toMatchObject({
    sub: '2',
    jti: expect.any(String),
    nbf: payload.iat,
    exp: (payload.iat ?? 0) + 3_600,
  })
  const { body } = await fairlead.send('GET', '/.well-known/jwks.json')
  expect((body['keys'] as object[]).length).toBe(2)
  expect(JSON.stringify(body)).not.toContain('"d"')
})
