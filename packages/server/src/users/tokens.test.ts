import { createHmac } from 'node:crypto'
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import type { SigningKey, SigningKeysStore } from './signing-keys-store.ts'
import { createTokens, type Tokens } from './tokens.ts'

const keys: SigningKey[] = []
const store: SigningKeysStore = { list: async () => [...keys], insert: async (key) => void keys.push(key) }
let clock = Date.parse('2026-11-21T12:00:00Z')
let tokens: Tokens

beforeAll(async () => {
  tokens = await createTokens(store, () => clock)
})

const key = () => keys[0] ?? { kid: '', privateJwk: '{}' }
const nowSeconds = () => Math.floor(clock / 1000)

/** A token as we sign it, but for `change`. */
async function sign(
  change: { readonly header?: object; readonly claims?: object; readonly jwk?: JWK } = {},
): Promise<string> {
  const jwk = change.jwk ?? (JSON.parse(key().privateJwk) as JWK)
  const times = { iat: nowSeconds(), nbf: nowSeconds(), exp: nowSeconds() + 300 }
  return new SignJWT({ sub: '1', iss: 'fairlead', aud: 'fairlead-api', jti: 'x', ...times, ...change.claims })
    .setProtectedHeader({ alg: 'EdDSA', kid: key().kid, ...change.header })
    .sign(await importJWK(jwk, 'EdDSA'))
}

test('a token speaks for the user it was issued to, until it expires', async () => {
  const token = await tokens.issue(7, 60)
  expect(await tokens.verify(token)).toBe(7)
  clock += 59_000
  expect(await tokens.verify(token)).toBe(7)
  clock += 7_000
  expect(await tokens.verify(token)).toBeUndefined()
})

test('the key survives a restart: tokens issued before it stay good', async () => {
  const token = await tokens.issue(7, 60)
  expect(await (await createTokens(store, () => clock)).verify(token)).toBe(7)
  expect(keys.length).toBe(1)
})

describe('a token is none', () => {
  const unsigned = async () => {
    const [, body = ''] = (await sign()).split('.')
    return `${Buffer.from(JSON.stringify({ alg: 'none', kid: key().kid })).toString('base64url')}.${body}.`
  }
  /** Signed with the public key as if it were a shared secret. */
  const confused = async () => {
    const { x = '' } = JSON.parse(key().privateJwk) as JWK
    const head = Buffer.from(JSON.stringify({ alg: 'HS256', kid: key().kid })).toString('base64url')
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
    'from another issuer': () => sign({ claims: { iss: 'other' } }),
    'for another audience': () => sign({ claims: { aud: 'other' } }),
    'that has expired': () => sign({ claims: { exp: nowSeconds() - 6 } }),
    'that is not valid yet': () => sign({ claims: { nbf: nowSeconds() + 6 } }),
    'without an end': () => sign({ claims: { exp: undefined } }),
    'with a changed payload': async () =>
      (await sign()).replace(/\.(.)/, (_, first: string) => `.${first === 'e' ? 'f' : 'e'}`),
  }
  for (const [what, make] of Object.entries(cases)) {
    test(what, async () => expect(await tokens.verify(await make())).toBeUndefined())
  }

  test('while the same one without any of that is good', async () =>
    expect(await tokens.verify(await sign())).toBe(1))
})
