import { randomUUID } from 'node:crypto'
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK, jwtVerify, SignJWT } from 'jose'
import type { SigningKeysStore } from './signing-keys-store.ts'

const ISSUER = 'fairlead'
const AUDIENCE = 'fairlead-api'
/** Clocks of clients do not matter; those of several servers may differ by this. */
const TOLERANCE_SECONDS = 5

/** Verified tokens that are remembered; the oldest goes first. About 500 bytes each. */
const MOST_REMEMBERED = 1_000

export interface Tokens {
  /** A token for `userUid`, valid for `ttlSeconds`. */
  issue(userUid: number, ttlSeconds: number): Promise<string>
  /** The user whom a token speaks for; undefined when it is not a valid one of ours. */
  verify(token: string): Promise<number | undefined>
}

interface Key {
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
}

/**
 * Tokens signed with Ed25519. The keys are in the store; the first is made when there is none, and the newest signs.
 * The algorithm is pinned and `kid` is required: what a token says of itself decides nothing.
 */
export async function createTokens(store: SigningKeysStore, now: () => number): Promise<Tokens> {
  if ((await store.list()).length === 0) await addKey(store, now)
  const keys = new Map<string, Key>()
  let newest = ''
  for (const { kid, privateJwk } of await store.list()) {
    keys.set(kid, await importPair(JSON.parse(privateJwk) as JWK))
    newest = kid
  }

  // A signature costs more than everything else about a request; a token that was good is good until it expires.
  const verified = new Map<string, { readonly userUid: number; readonly untilMs: number }>()
  const remember = (token: string, verdict: { readonly userUid: number; readonly untilMs: number }) => {
    if (verified.size >= MOST_REMEMBERED) verified.delete(verified.keys().next().value ?? '')
    verified.set(token, verdict)
  }

  return {
    async issue(userUid, ttlSeconds) {
      const key = keys.get(newest)
      if (key === undefined) throw new Error('there is no signing key')
      const nowSeconds = Math.floor(now() / 1000)
      return new SignJWT()
        .setProtectedHeader({ alg: 'EdDSA', kid: newest, typ: 'JWT' })
        .setSubject(String(userUid))
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setIssuedAt(nowSeconds)
        .setNotBefore(nowSeconds)
        .setExpirationTime(nowSeconds + ttlSeconds)
        .setJti(randomUUID())
        .sign(key.privateKey)
    },
    async verify(token) {
      const known = verified.get(token)
      if (known !== undefined && now() < known.untilMs) return known.userUid
      verified.delete(token)
      try {
        const { payload } = await jwtVerify(token, ({ kid }) => publicKeyOf(keys, kid), {
          algorithms: ['EdDSA'],
          issuer: ISSUER,
          audience: AUDIENCE,
          clockTolerance: TOLERANCE_SECONDS,
          currentDate: new Date(now()),
          requiredClaims: ['sub', 'iat', 'nbf', 'exp', 'jti'],
        })
        const userUid = Number(payload.sub)
        remember(token, { userUid, untilMs: Number(payload.exp) * 1000 })
        return userUid
      } catch {
        // Whatever is wrong with it: it is not a token of ours, and the answer does not say why.
        return undefined
      }
    },
  }
}

function publicKeyOf(keys: ReadonlyMap<string, Key>, kid: string | undefined): CryptoKey {
  const key = kid === undefined ? undefined : keys.get(kid)
  if (key === undefined) throw new Error('unknown kid')
  return key.publicKey
}

async function addKey(store: SigningKeysStore, now: () => number): Promise<void> {
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
  await store.insert(
    { kid: randomUUID(), privateJwk: JSON.stringify(await exportJWK(privateKey)) },
    new Date(now()).toISOString(),
  )
}

async function importPair(jwk: JWK): Promise<Key> {
  const { d: _secret, ...publicJwk } = jwk
  return {
    privateKey: (await importJWK(jwk, 'EdDSA')) as CryptoKey,
    publicKey: (await importJWK(publicJwk, 'EdDSA')) as CryptoKey,
  }
}
