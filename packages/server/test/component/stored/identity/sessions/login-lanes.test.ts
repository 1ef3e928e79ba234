import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { adminPassword, basic, startControlPlane, type TestControlPlane } from '../../../../control-plane.ts'
import { canBeOther, sendAsOther } from '../../../../other-user.ts'

let fairlead: TestControlPlane
beforeEach(async () => {
  fairlead = await startControlPlane()
})
afterEach(() => fairlead[Symbol.asyncDispose]())

const path = '/v1/users/authorize'
const guess = (username: string) => ({ path, body: { username, password: 'wrong' } })
const guesses = (username: string, times: number) => Array.from({ length: times }, () => guess(username))
const right = () => fairlead.send('POST', path, { body: { username: 'admin', password: adminPassword } })

const allow = async (login_lockout_threshold: number) =>
  fairlead.send('PUT', '/v1/cluster/policy', {
    auth: await fairlead.signIn('admin', adminPassword),
    body: { login_lockout_threshold },
  })

describe.runIf(canBeOther)('another local user', () => {
  // invariant: Failed logins lock out their source, and no user.
  test('locks out itself, and not the admin, be it known here or new; by token, by Basic, at a login', async () => {
    expect(await sendAsOther(fairlead.url, guesses('admin', 5))).toEqual([401, 401, 401, 401, 401])
    expect((await right()).status).toBe(200) // never seen from here before
    const auth = await fairlead.signIn('admin', adminPassword)
    expect((await fairlead.send('GET', '/v1/users', { auth: basic('admin', adminPassword) })).status).toBe(
      200,
    )
    await sendAsOther(fairlead.url, guesses('admin', 1))
    expect((await fairlead.send('GET', '/v1/users', { auth: basic('admin', adminPassword) })).status).toBe(
      200,
    )
    expect((await right()).status).toBe(200)

    const stranger = { path, body: { username: 'admin', password: adminPassword } }
    expect(await sendAsOther(fairlead.url, [stranger])).toEqual([401])
    fairlead.pass({ seconds: 1_801 })
    expect(await sendAsOther(fairlead.url, [stranger])).toEqual([200])
    expect((await fairlead.send('GET', '/v1/users/1', { auth })).body['status']).toBe('active')
  })

  test('is slowed down when it spreads its guesses over names, without a derivation, while others sign in', async () => {
    await allow(2)
    const spread = Array.from({ length: 30 }, (_, n) => guess(`user-${n}`))
    const answers = await sendAsOther(fairlead.url, spread)
    expect(answers.filter((status) => status === 401).length).toBeLessThanOrEqual(13)
    expect(answers.filter((status) => status === 429).length).toBeGreaterThanOrEqual(17)
    expect((await right()).status).toBe(200)
  })
})

test('a source that has to wait is told how long, and gets through then', async () => {
  await allow(1)
  let last = { status: 0, headers: new Headers() }
  for (let n = 0; n < 40 && last.status !== 429; n += 1) {
    last = await fairlead.send('POST', path, { body: { username: `user-${n}`, password: 'wrong' } })
  }
  const seconds = Number(last.headers.get('retry-after'))
  expect(last.status).toBe(429)
  expect(seconds).toBeGreaterThan(1)
  fairlead.pass({ seconds })
  expect((await fairlead.send('POST', path, { body: { username: 'x', password: 'wrong' } })).status).toBe(401)
})

test('what is kept of sources is bounded, and those that are known outlast those that are not', async () => {
  await right()
  const others = Array.from({ length: 200 }, (_, n) => `(1, '10.0.0.${n}', 0, 1, null, null, '2020-01-01')`)
  await fairlead.tamper(`insert into login_lanes values ${others.join()}`)
  await fairlead.send('POST', path, { body: { username: 'admin', password: 'wrong' } })
  await fairlead.tamper(`insert into login_lanes values (1, 'new', 0, 1, null, null, '2030-01-01')`)
  const lanes = await fairlead.withStore(({ db }) =>
    db.selectFrom('login_lanes').select('known').where('user_uid', '=', 1).execute(),
  )
  expect(lanes.filter(({ known }) => known === 1).length).toBe(1)
  expect((await right()).status).toBe(200)
})
