import { randomUUID } from 'node:crypto'
import { Refusal } from '@fairlead/api'
import { type JWTPayload, jwtVerify, SignJWT } from 'jose'
import type { SigningKeys } from './signing-keys.ts'

const ISSUER = 'fairlead'
const AUDIENCE = 'fairlead-api'
/** Clocks of several servers may differ by this. Clocks of clients do not matter. */
const TOLERANCE_SECONDS = 5
/** Verified tokens that are remembered, about 700 bytes each; the oldest is dropped first. */
const MOST_REMEMBERED = 1_000

/** The content of a token. */
export interface Claims {
  readonly id: string
  readonly userUid: number
  /** The user's epoch when the token was issued. */
  readonly epoch: number
  readonly expiresAtMs: number
  /** When the user last gave a password; a token that is issued for another token keeps this time. */
  readonly signedInMs: number
  /** The claims belong to the session of a browser. */
  readonly isSession?: true
}

export type Tokens = ReturnType<typeof createTokens>

/**
 * Issues and verifies tokens of the API: JWTs (RFC 7519). Signs tokens with Ed25519. The algorithm is fixed
 * and `kid` required: a token cannot choose them.
 */
export function createTokens(keys: SigningKeys, now: () => number, sessionMs: number) {
  // Checking a signature is the slowest step of a request. A good token is good until it or its key ends.
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
    /**
     * Issues a token for a user who gave a password at `signedInMs`. It is valid for `ttlSeconds`, but not
     * longer than a session may last. Throws Refusal unauthorized if the session has lasted that long.
     */
    async issue(
      { uid, tokenEpoch }: { readonly uid: number; readonly tokenEpoch: number },
      ttlSeconds: number,
      signedInMs: number,
    ): Promise<string> {
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
    /** Returns the claims of a token that was verified before and has not ended, without waiting. */
    recall,
    /** Returns the claims; undefined for an invalid token. It does not check revocation. */
    async verify(token: string): Promise<Claims | undefined> {
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
        // Any fault means that the token is not ours. The answer does not name the fault.
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
    signedInMs: Number(payload['auth_time'] ?? payload.iat) * 1000, // older tokens do not have it
  }
}

function keyOf(keys: SigningKeys, kid: string | undefined) {
  const key = kid === undefined ? undefined : keys.verifying(kid)
  if (key === undefined) throw new Error('unknown kid')
  return key
}
