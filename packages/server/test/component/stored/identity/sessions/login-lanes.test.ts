import { afterEach, beforeEach, expect, test } from 'vitest'
import { createAuditCounter } from '../../../../../src/identity/audit/audit-counter.ts'
import { createHashing, sha256Of } from '../../../../../src/identity/hashing/hashing.ts'
import { createIdentify, type Identify } from '../../../../../src/identity/sessions/identify.ts'
import { createIdentities } from '../../../../../src/identity/sessions/identities.ts'
import { createLogins, type Logins } from '../../../../../src/identity/sessions/logins.ts'
import { loginLanesStore } from '../../../../../src/identity/stores/login-lanes-store.ts'
import { passwordsStore } from '../../../../../src/identity/stores/passwords-store.ts'
import { usersStore } from '../../../../../src/identity/stores/users-store.ts'
import type { Store } from '../../../../../src/store/open-store.ts'
import { basic } from '../../../../control-plane.ts'
import { openTestStore } from '../../../../open-test-store.ts'

const password = 'a-password-of-mine'
const at = '2026-11-29T12:00:00.000Z'
let store: Store
let logins: Logins
let identify: Identify
let uid: number
let nowMs = Date.parse(at)
const now = () => nowMs
const hashing = await createHashing({ memoryKiB: 8, passes: 1, parallelism: 1 })

beforeEach(async () => {
  store = await openTestStore(':memory:')
  const phc = await hashing.hash(password)
  uid = await store.transaction(async (db) => {
    const user = await usersStore(db).insert({ name: 'mia', email: null, roleUids: [1] }, at)
    await passwordsStore(db).insert(user.uid, { phc, sha256: sha256Of(password) }, at)
    return user.uid
  })
  const identities = createIdentities(store, now)
  const parts = { store, hashing, identities, now }
  logins = createLogins({
    ...parts,
    counter: createAuditCounter(store, now),
  })
  const never = () => {
    throw new Error('no token is sent')
  }
  const tokens = { issue: never, verify: never, recall: never }
  identify = createIdentify({ ...parts, logins, tokens, sessions: { find: never, recall: never } })
})
afterEach(() => store[Symbol.asyncDispose]())

const codeOf = (cause: { readonly code: string }) => cause.code
const guess = (address: string, name = 'mia') =>
  logins.check({ name, password: 'wrong' }, { address, via: 'authorize' }).then(() => 'right', codeOf)
const signIn = (address: string) =>
  logins.check({ name: 'mia', password }, { address, via: 'authorize' }).then(() => 'right', codeOf)
const askByBasic = async (address: string) => {
  const asked = (async () => identify(basic('mia', password), { address }, { admitsExpired: false }))()
  return asked.then(() => 'right', codeOf)
}

// invariant: Failed logins lock out their source, and no user.
test('a source locks out itself, and no other, be it known or new; at a login and by Basic', async () => {
  expect(await askByBasic('10.0.0.1')).toBe('right')
  for (let n = 0; n < 5; n += 1) expect(await guess('10.0.0.9')).toBe('invalid_credentials')
  expect(await signIn('10.0.0.1')).toBe('right')
  expect(await signIn('10.0.0.2')).toBe('right') // never seen before
  expect([await askByBasic('10.0.0.1'), await askByBasic('10.0.0.2')]).toEqual(['right', 'right'])
  for (let n = 0; n < 5; n += 1) await guess('10.0.0.2') // known, and then fails
  for (const locked of ['10.0.0.9', '10.0.0.2', '::ffff:10.0.0.2'])
    expect([await signIn(locked), await askByBasic(locked)]).toEqual([
      'invalid_credentials',
      'invalid_credentials',
    ])
  expect(await signIn('10.0.0.1')).toBe('right')
  nowMs += 1_801_000
  expect([await signIn('10.0.0.9'), await askByBasic('10.0.0.2')]).toEqual(['right', 'right'])
})

test('a source that spreads its guesses over names has to wait, and sources in which a user is known do not', async () => {
  await signIn('10.0.0.1')
  const codes = []
  for (let n = 0; n < 40; n += 1) codes.push(await guess('10.0.0.9', `user-${n}`))
  expect(codes).toEqual(Array.from(codes, (_, n) => (n < 30 ? 'invalid_credentials' : 'too_many_requests')))
  expect(await signIn('10.0.0.1')).toBe('right')
  for (let n = 0; n < 40; n += 1) await guess('10.0.0.1', `user-${n}`)
  expect(await signIn('10.0.0.1')).toBe('right')
  nowMs += 30_000
  expect(await guess('10.0.0.9', 'x')).toBe('invalid_credentials')
})

test('what is kept of sources is bounded, and those that are known outlast those that are not', async () => {
  await signIn('10.0.0.1')
  for (let n = 0; n < 100; n += 1) {
    nowMs += 1_000
    await store.transaction(async (db) => {
      const failures = { count: 1, lastMs: nowMs, lockedUntilMs: null }
      const lane = { source: `stranger ${n}`, known: false, failures }
      await loginLanesStore(db).put(uid, lane, new Date(nowMs).toISOString())
      await loginLanesStore(db).dropSurplus(uid, lane)
    })
  }
  const lanes = await store.db.selectFrom('login_lanes').select(['source', 'known']).execute()
  expect(lanes.filter(({ known }) => known === 1).map(({ source }) => source)).toEqual(['10.0.0.1'])
  expect(lanes.length).toBe(65)
  expect(lanes.map(({ source }) => source)).toContain('stranger 99')
})
