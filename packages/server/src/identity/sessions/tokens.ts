import { randomUUID } from 'node:crypto'
import { Refusal } from '@fairlead/api'
import { type JWTPayload, jwtVerify, SignJWT } from 'jose'
import type { SigningKeys } from './signing-keys.ts'

const ISSUER = 'fairlead'
const AUDIENCE = 'fairlead-api'
/** Clocks of clients do not matter; those of several servers may differ by this. */
const TOLERANCE_SECONDS = 5
/** Verified tokens that are remembered; the oldest goes first. About 700 bytes each. */
const MOST_REMEMBERED = 1_000

/** What a token says of the user it speaks for. */
export interface Claims {
  readonly id: string
  readonly userUid: number
  /** The user's epoch when it was issued. */
  readonly epoch: number
  readonly expiresAtMs: number
  /** When its user last showed a password; a token that comes of another one does not move it. */
  readonly signedInMs: number
  /** They come of the session of a browser. */
  readonly isSession?: true
}

/** Tokens of the API: JWTs (RFC 7519). */
export interface Tokens {
  /**
   * A token for a user who showed a password at `signedInMs`, valid for `ttlSeconds`, but no longer than a session may last. Throws
   * Refusal unauthorized when it has lasted as long.
   */
  issue(
    user: { readonly uid: number; readonly tokenEpoch: number },
    ttlSeconds: number,
    signedInMs: number,
  ): Promise<string>
  /** What a token that was verified before says, at once; undefined when it was not, or has ended since. */
  recall(token: string): Claims | undefined
  /** What the token says; undefined when it is not a valid one of ours. Whether it was revoked is not asked here. */
  verify(token: string): Promise<Claims | undefined>
}

/**
 * Tokens signed with Ed25519. The algorithm is pinned and `kid` is required: a token cannot choose how it is verified.
 */
export function createTokens(keys: SigningKeys, now: () => number, sessionMs: number): Tokens {
  // A signature costs more than everything else about a request; a token that was good is good until it expires or its
  // key is gone.
  const verified = new Map<string, { readonly kid: string; readonly claims: Claims }>()
  const remember = (token: string, kid: string, claims: Claims) => {
    if (verified.size >= MOST_REMEMBERED) verified.delete(verified.keys().next().value ?? '')
    verified.set(token, { kid, claims })
  }
  const lives = ({ expiresAtMs }: Claims) => now() < expiresAtMs + TOLERANCE_SECONDS * 1000
  const recall = (token: string) => {
    const known = verified.get(token)
    if (known === undefined || !lives(known.claims) || keys.verifying(known.kid) === undefined)
      return undefined
    return known.claims
  }
  return {
    async issue({ uid, tokenEpoch }, ttlSeconds, signedInMs) {
      const { kid, privateKey } = keys.signing()
      const nowSeconds = Math.floor(now() / 1000)
      const lastSeconds = Math.floor((signedInMs + sessionMs) / 1000)
      if (lastSeconds <= nowSeconds) {
        throw new Refusal('unauthorized', 'the session has ended; sign in with the password again')
      }
      return new SignJWT({ epoch: tokenEpoch, auth_time: Math.floor(signedInMs / 1000) })
        .setProtectedHeader({ alg: 'EdDSA', kid, typ: 'JWT' })
        .setSubject(String(uid))
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setIssuedAt(nowSeconds)
        .setNotBefore(nowSeconds)
        .setExpirationTime(Math.min(nowSeconds + ttlSeconds, lastSeconds))
        .setJti(randomUUID())
        .sign(privateKey)
    },
    recall,
    async verify(token) {
      const known = recall(token)
      if (known !== undefined) return known
      verified.delete(token)
      try {
        const { payload, protectedHeader } = await jwtVerify(token, ({ kid }) => keyOf(keys, kid), {
          algorithms: ['EdDSA'],
          typ: 'JWT',
          issuer: ISSUER,
          audience: AUDIENCE,
          clockTolerance: TOLERANCE_SECONDS,
          currentDate: new Date(now()),
          requiredClaims: ['sub', 'iat', 'nbf', 'exp', 'jti', 'epoch'],
        })
        const claims = claimsOf(payload)
        remember(token, protectedHeader.kid ?? '', claims)
        return claims
      } catch {
        // Whatever is wrong with it: it is not a token of ours, and the answer does not say why.
        return undefined
      }
    },
  }
}

function claimsOf(payload: JWTPayload): Claims {
  return {
    id: String(payload.jti),
    userUid: Number(payload.sub),
    epoch: Number(payload['epoch']),
    expiresAtMs: Number(payload.exp) * 1000,
    signedInMs: Number(payload['auth_time'] ?? payload.iat) * 1000, // older ones do not say
  }
}

function keyOf(keys: SigningKeys, kid: string | undefined) {
  const key = kid === undefined ? undefined : keys.verifying(kid)
  if (key === undefined) throw new Error('unknown kid')
  return key
}
