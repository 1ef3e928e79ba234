import { createHmac, randomBytes } from 'node:crypto'
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestStore } from '../../../test/open-test-store.ts'
import { fairlead } from '../../core/identity/audit-record.ts'
import type { Store } from '../../store/open-store.ts'
import { createSecretBox, type SecretBox } from '../../store/secret-box.ts'
import { type SigningKey, signingKeysStore } from '../stores/signing-keys-store.ts'
import { createSigningKeys, type SigningKeys } from './signing-keys.ts'
import { createTokens, type Tokens } from './tokens.ts'

const DAY_MS = 24 * 60 * 60 * 1000
let clock = Date.parse('2026-11-21T12:00:00Z')
let store: Store
let box: SecretBox
let keys: SigningKeys
let tokens: Tokens
let key: SigningKey

const open = () =>
  createSigningKeys({
    store,
    box,
    now: () => clock,
    rotateEveryMs: 90 * DAY_MS,
    log: pino({ level: 'silent' }),
  })

beforeAll(async () => {
  store = await openTestStore(':memory:')
  box = createSecretBox(randomBytes(32))
  keys = await open()
  tokens = createTokens(keys, () => clock, 7 * DAY_MS)
  const active = (await signingKeysStore(store.db, box).list()).find(({ activeMs }) => activeMs !== null)
  if (active === undefined) throw new Error('no key signs')
  key = active
})
afterAll(async () => {
  await keys[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
})

const user = { uid: 7, tokenEpoch: 3 }
const nowSeconds = () => Math.floor(clock / 1000)

/** Signs a token as Fairlead does, with `change` applied. */
async function sign(
  change: { readonly header?: object; readonly claims?: object; readonly jwk?: JWK } = {},
): Promise<string> {
  const jwk = change.jwk ?? (JSON.parse(key.privateJwk) as JWK)
  const times = { iat: nowSeconds(), nbf: nowSeconds(), exp: nowSeconds() + 300 }
  const claims = { sub: '1', iss: 'fairlead', aud: 'fairlead-api', jti: 'x', epoch: 0 }
  return new SignJWT({ ...claims, ...times, ...change.claims })
    .setProtectedHeader({ alg: 'EdDSA', kid: key.kid, typ: 'JWT', ...change.header })
    .sign(await importJWK(jwk, 'EdDSA'))
}

test('a token speaks for the user it was issued to, until it expires', async () => {
  const token = await tokens.issue(user, 60, clock)
  expect(await tokens.verify(token)).toMatchObject({ userUid: 7, epoch: 3 })
  clock += 59_000
  expect(await tokens.verify(token)).toMatchObject({ userUid: 7 })
  clock += 7_000
  expect(await tokens.verify(token)).toBeUndefined()
})

test('the keys survive a restart: tokens issued before it stay good', async () => {
  const token = await tokens.issue(user, 60, clock)
  await using again = await open()
  expect(await createTokens(again, () => clock, 7 * DAY_MS).verify(token)).toMatchObject({ userUid: 7 })
  expect(again.list()).toEqual(keys.list())
})

test('a token of the former key stays valid after a rotation, and no token does after all keys were dropped', async () => {
  await using again = await open()
  const mine = createTokens(again, () => clock, 7 * DAY_MS)
  const before = await mine.issue(user, 60, clock)
  const announced = again.list().find(({ stage }) => stage === 'next')?.kid
  await again.rotate(fairlead, false)
  expect(again.signing().kid).toBe(announced)
  expect(await mine.verify(before)).toMatchObject({ userUid: 7 })
  await again.rotate(fairlead, true)
  expect(await mine.verify(before)).toBeUndefined()
  expect(await mine.verify(await mine.issue(user, 60, clock))).toMatchObject({ userUid: 7 })
  expect(
    again
      .list()
      .map(({ stage }) => stage)
      .toSorted(),
  ).toEqual(['active', 'next'])
})

describe('a token is invalid', () => {
  const unsigned = async () => {
    const [, body = ''] = (await sign()).split('.')
    return `${Buffer.from(JSON.stringify({ alg: 'none', kid: key.kid, typ: 'JWT' })).toString('base64url')}.${body}.`
  }
  /** Signed with the public key as if it were a shared secret. */
  const confused = async () => {
    const { x = '' } = JSON.parse(key.privateJwk) as JWK
    const head = Buffer.from(JSON.stringify({ alg: 'HS256', kid: key.kid, typ: 'JWT' })).toString('base64url')
    const [, body = ''] = (await sign()).split('.')
    return `${head}.${body}.${createHmac('sha256', Buffer.from(x, 'base64url')).update(`${head}.${body}`).digest('base64url')}`
  }
  const stranger = async () => {
    const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
    return sign({ jwk: await exportJWK(privateKey) })
  }
  const cases: Readonly<Record<string, () => Promise<string>>> = {
    'with the algorithm none': unsigned,
    'with HS256 over the public key': confused,
    'signed by a stranger': stranger,
    'with an unknown kid': () => sign({ header: { kid: 'other' } }),
    'without a kid': () => sign({ header: { kid: undefined } }),
    'of another type': () => sign({ header: { typ: 'at+jwt' } }),
    'from another issuer': () => sign({ claims: { iss: 'other' } }),
    'for another audience': () => sign({ claims: { aud: 'other' } }),
    'that has expired': () => sign({ claims: { exp: nowSeconds() - 6 } }),
    'that is not valid yet': () => sign({ claims: { nbf: nowSeconds() + 6 } }),
    'without an end': () => sign({ claims: { exp: undefined } }),
    'without an epoch': () => sign({ claims: { epoch: undefined } }),
    'with a changed payload': async () =>
      (await sign()).replace(/\.(.)/, (_, first: string) => `.${first === 'e' ? 'f' : 'e'}`),
    'with a changed signature': async () =>
      (await sign()).replace(/.{4}$/, (end) => (end === 'AAAA' ? 'BBBB' : 'AAAA')),
  }
  /** Signed by the key that signs now: the tests before this one have changed it. */
  beforeAll(async () => {
    await keys.tend()
    const { kid } = keys.signing()
    const active = (await signingKeysStore(store.db, box).list()).find((one) => one.kid === kid)
    if (active === undefined) throw new Error('no key signs')
    key = active
  })
  for (const [what, make] of Object.entries(cases)) {
    test(what, async () => expect(await tokens.verify(await make())).toBeUndefined())
  }

  test('while the same one without any of that is good, also five seconds off', async () => {
    expect(await tokens.verify(await sign())).toMatchObject({ userUid: 1 })
    expect(await tokens.verify(await sign({ claims: { nbf: nowSeconds() + 5 } }))).toMatchObject({
      userUid: 1,
    })
    expect(await tokens.verify(await sign({ claims: { exp: nowSeconds() - 4 } }))).toMatchObject({
      userUid: 1,
    })
  })
})

test('what the store holds of a private key is of no use without the key of the store', async () => {
  const rows = await store.db.selectFrom('signing_keys').select('private_jwk').execute()
  expect(rows.length).toBeGreaterThan(1)
  for (const { private_jwk } of rows) expect(private_jwk).toMatch(/^v1:/)
  const other = createSecretBox(randomBytes(32))
  await expect(signingKeysStore(store.db, other).list()).rejects.toThrow(/FAIRLEAD_STORE_KEY/)
})

test('keys change by themselves when their time has come, and are dropped when no token of them lives', async () => {
  const before = keys.list()
  clock += 91 * DAY_MS
  await keys.tend()
  expect(keys.signing().kid).toBe(before.find(({ stage }) => stage === 'next')?.kid)
  expect(keys.list().map(({ stage }) => stage)).toContain('retired')
  clock += 2 * DAY_MS
  await keys.tend()
  expect(
    keys
      .list()
      .map(({ stage }) => stage)
      .toSorted(),
  ).toEqual(['active', 'next'])
})
