import { argon2Sync } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { adminPassword, basic, startControlPlane, type TestControlPlane } from '../../../control-plane.ts'

let fairlead: TestControlPlane
let admin: string
let mia: string
beforeEach(async () => {
  fairlead = await startControlPlane()
  admin = await fairlead.signIn('admin', adminPassword)
  await fairlead.send('POST', '/v1/users', {
    auth: admin,
    body: { name: 'mia', password, email: 'mia@example.org' },
  })
  mia = await fairlead.signIn('mia', password)
})
afterEach(() => fairlead[Symbol.asyncDispose]())

const password = 'a-password-of-mine'
const another = 'another-password'
const send = (method: string, body: object, auth = mia) =>
  fairlead.send(method, '/v1/users/password', { auth, body })
/** With the old password, as a token needs it. */
const change = (method: string, body: object, auth = mia) =>
  send(method, { ...(auth === mia && { old_password: password }), ...body }, auth)
const fits = async (candidate: string) =>
  (await fairlead.send('POST', '/v1/users/authorize', { body: { username: 'mia', password: candidate } }))
    .status === 200
const refusal = async (answer: ReturnType<typeof change>) => {
  const { status, body } = await answer
  return [status, body['error_code']]
}

test('a password is changed without an interruption: one is added, both are valid, the old one is removed', async () => {
  expect((await change('POST', { new_password: another })).body).toEqual({ username: 'mia', passwords: 2 })
  expect([await fits(password), await fits(another)]).toEqual([true, true])
  expect((await fairlead.send('GET', '/v1/bdbs', { auth: mia })).status).toBe(200) // that signs no session out
  expect((await change('DELETE', { old_password: password })).body).toEqual({ username: 'mia', passwords: 1 })
  expect([await fits(password), await fits(another)]).toEqual([false, true])
  expect((await fairlead.send('GET', '/v1/bdbs', { auth: mia })).status).toBe(401)
})

test('setting a password replaces all there were', async () => {
  await change('POST', { new_password: 'the-second-password' })
  await change('PUT', { new_password: another })
  expect([await fits(password), await fits('the-second-password'), await fits(another)]).toEqual([
    false,
    false,
    true,
  ])
})

describe('a token alone', () => {
  test('changes no password of its user, by neither way; with the old one, by Basic, or of an admin it does', async () => {
    const needed = { status: 400, body: { message: expect.stringMatching(/^old_password: is missing/) } }
    const user = (body: object, auth: string) => fairlead.send('PUT', '/v1/users/2', { auth, body })
    for (const method of ['PUT', 'POST']) {
      expect(await send(method, { new_password: another })).toMatchObject(needed)
    }
    expect(await user({ password: another }, mia)).toMatchObject(needed)
    expect([await fits(another), await fits(password)]).toEqual([false, true])

    expect((await user({ password: another, old_password: password }, mia)).status).toBe(200)
    expect((await send('PUT', { new_password: 'the-third-one' }, basic('mia', another))).status).toBe(200)
    expect((await user({ password }, admin)).status).toBe(200)
    expect((await send('POST', { new_password: 'for-the-admin' }, admin)).status).toBe(200)
  })

  test('guesses a password no more often than a login does, and every guess is written down', async () => {
    const wrong = { new_password: another, old_password: 'wrong' }
    for (const guess of [
      () => send('PUT', wrong),
      () => send('POST', wrong),
      () => send('DELETE', { old_password: 'wrong' }),
      () =>
        fairlead.send('PUT', '/v1/users/2', { auth: mia, body: { password: another, old_password: 'x' } }),
      () => send('PUT', wrong),
    ]) {
      expect(await refusal(guess())).toEqual([401, 'invalid_credentials'])
    }
    expect((await fairlead.send('GET', '/v1/users/2', { auth: admin })).body['status']).toBe('locked')
    expect(await refusal(send('PUT', { new_password: another, old_password: password }))).toEqual([
      401,
      'invalid_credentials',
    ])
    const { body } = await fairlead.send('GET', '/v1/logs', { auth: admin })
    const guesses = (body as unknown as { type: string; details: object }[]).filter(
      ({ type }) => type === 'login_failed',
    )
    expect(guesses.length).toBe(6)
    expect(guesses[0]?.details).toMatchObject({ via: 'old_password', why: 'wrong' })
  })
})

describe('it is refused', () => {
  test('to set or add one that the user has, to remove one that it has not, and to remove the last', async () => {
    const same = [400, 'new_password_same_as_current']
    expect(await refusal(change('PUT', { new_password: password }))).toEqual(same)
    expect(await refusal(change('POST', { new_password: password }))).toEqual(same)
    expect(await refusal(change('DELETE', { old_password: another }))).toEqual([401, 'invalid_credentials'])
    expect(await refusal(change('DELETE', { old_password: password }))).toEqual([
      400,
      'cannot_delete_last_password',
    ])
    expect(await fits(password)).toBe(true)
  })

  test('to set one with a wrong old one, where an old one is given', async () => {
    const wrong = { new_password: another, old_password: 'wrong' }
    expect(await refusal(change('PUT', wrong))).toEqual([401, 'invalid_credentials'])
    expect((await change('PUT', { ...wrong, old_password: password })).status).toBe(200)
  })

  test('to have more than ten', async () => {
    for (let n = 2; n <= 10; n += 1)
      expect((await change('POST', { new_password: `password-${n}` })).status).toBe(200)
    expect(await refusal(change('POST', { new_password: 'password-11' }))).toEqual([
      406,
      'too_many_passwords',
    ])
    expect([await fits('password-10'), await fits(password)]).toEqual([true, true])
  })

  test('to change another user’s, unless one is admin', async () => {
    for (const [method, body] of [
      ['PUT', { username: 'admin', new_password: another }],
      ['POST', { username: 'nobody', new_password: another }],
      ['DELETE', { username: 'admin', old_password: adminPassword }],
    ] as const) {
      expect(await refusal(change(method, body))).toEqual([403, 'unauthorized_action'])
    }
    expect(await refusal(change('PUT', { username: 'nobody', new_password: another }, admin))).toEqual([
      404,
      'user_not_exist',
    ])
    expect((await change('PUT', { username: 'mia@example.org', new_password: another }, admin)).status).toBe(
      200,
    )
    expect(await fits(another)).toBe(true)
  })
})

describe('the rules of the cluster', () => {
  const rules = (body: object) => fairlead.send('PUT', '/v1/cluster', { auth: admin, body })

  test('hold for every new password, whichever way it comes, and name all that is missing', async () => {
    await rules({ password_complexity: true, password_min_length: 12 })
    const answer = await change('PUT', { new_password: 'mia' })
    expect([answer.status, answer.body['error_code']]).toEqual([400, 'password_not_complex'])
    for (const fault of [
      /12 characters/,
      /upper case/,
      /digit/,
      /neither letter nor digit/,
      /must not contain/,
    ]) {
      expect(answer.body['message']).toMatch(fault)
    }
    const user = (method: string, path: string, body: object) =>
      fairlead.send(method, path, { auth: admin, body })
    const refused = [400, 'password_not_complex']
    expect(await refusal(change('POST', { new_password: 'all-lower-case' }))).toEqual(refused)
    expect(await refusal(user('POST', '/v1/users', { name: 'new', password: 'all-lower-case' }))).toEqual(
      refused,
    )
    expect(await refusal(user('PUT', '/v1/users/2', { password: 'all-lower-case' }))).toEqual(refused)
    expect(await refusal(user('PUT', '/v1/users/2', { password: 'Ab1!gro.elpmaxe@aim' }))).toEqual(refused) // backwards
    expect(await refusal(user('PUT', '/v1/users/2', { password: 'Aaaaa-1234567' }))).toEqual(refused)
    expect((await change('PUT', { new_password: 'Correct-horse-1' })).status).toBe(200)
  })

  test('are what was set, after a restart too, and nothing else is taken', async () => {
    const before = (await fairlead.send('GET', '/v1/cluster', { auth: admin })).body
    expect(before).toMatchObject({
      name: 'fairlead',
      password_complexity: false,
      password_min_length: 8,
      password_expiration_duration: 0,
      control_plane_basic_authentication: true,
    })
    expect((await rules({ password_min_length: 20 })).body).toEqual({ ...before, password_min_length: 20 })
    expect((await rules({ password_min_length: 7 })).status).toBe(400)
    expect((await rules({ name: 'other' })).status).toBe(400)
    await fairlead.send('PUT', '/v1/cluster/policy', { auth: admin, body: { login_lockout_duration: 60 } })
    await fairlead.restart()
    expect((await fairlead.send('GET', '/v1/cluster', { auth: admin })).body).toEqual({
      ...before,
      password_min_length: 20,
    })
    expect((await fairlead.send('GET', '/v1/cluster/policy', { auth: admin })).body).toMatchObject({
      login_lockout_threshold: 5,
      login_lockout_counter_reset_after: 900,
      login_lockout_duration: 60,
    })
  })
})

test('a hash with older parameters is replaced at the next login', async () => {
  const salt = Buffer.alloc(16, 1)
  const bare = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
  const tag = argon2Sync('argon2id', {
    message: another,
    nonce: salt,
    memory: 8_192,
    passes: 1,
    parallelism: 1,
    tagLength: 32,
  })
  const old = `$argon2id$v=19$m=8192,t=1,p=1$${bare(salt)}$${bare(tag)}`
  await fairlead.withStore(({ db }) =>
    db.updateTable('passwords').set({ phc: old }).where('user_uid', '=', 2).execute(),
  )
  expect(await fits(another)).toBe(true)
  const { phc } = await fairlead.withStore(({ db }) =>
    db.selectFrom('passwords').select('phc').where('user_uid', '=', 2).executeTakeFirstOrThrow(),
  )
  expect(phc).toMatch(/^\$argon2id\$v=19\$m=8,t=1,p=1\$/)
  expect(await fits(another)).toBe(true)
})
