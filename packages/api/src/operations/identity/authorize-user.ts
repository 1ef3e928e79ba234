import { Type } from 'typebox'
import { closed } from '../../contract/closed.ts'
import { operation } from '../../contract/operation.ts'
import { Password } from './passwords.ts'

/** Life of a token in seconds, like in the wider API. */
const Ttl = Type.Integer({
  minimum: 1,
  maximum: 86_400,
  default: 300,
  description: 'Life of the token, in seconds',
})

/** Specification §2.1, with the `ttl` of the wider API's clients. */
export const JwtAuthorize = closed({
  username: Type.String({ minLength: 1, maxLength: 256, description: 'Name or e-mail of the user' }),
  password: Password,
  ttl: Type.Optional(Ttl),
})

/** Specification §2.2. */
export const AccessToken = Type.Object({
  access_token: Type.String({
    description: 'The token (JWT) to send as `Authorization: Bearer …` or `JWT …`',
  }),
})

/** Specification §4.1. */
export const authorizeUser = operation({
  method: 'POST',
  path: '/v1/users/authorize',
  summary: 'Authorize a user: a name and a password for a token',
  permission: null,
  body: JwtAuthorize,
  loginAsBasic: true,
  ok: AccessToken,
  errors: ['invalid_credentials', 'password_expired', 'too_many_requests'],
})

/** POST /v1/users/refresh_jwt: a new token for a valid one, which stays valid; `ttl` in seconds. */
export const refreshToken = operation({
  method: 'POST',
  path: '/v1/users/refresh_jwt',
  summary: 'A new token for a valid one; the old one stays valid until its end',
  permission: 'signed_in',
  body: closed({ ttl: Type.Optional(Ttl) }),
  ok: AccessToken,
})

/** POST /v1/users/logout: revokes the request's token; refuses with `invalid_request` if there is none. */
export const logOut = operation({
  method: 'POST',
  path: '/v1/users/logout',
  summary: 'End the token that the request is sent with, before its time',
  permission: 'signed_in',
  ok: Type.Object({ logged_out: Type.Literal(true) }),
  errors: ['invalid_request'],
})

/** RFC 7517: the public keys, for others to verify our tokens. */
export const getJwks = operation({
  method: 'GET',
  path: '/.well-known/jwks.json',
  summary: 'The public keys that verify tokens, the next one included',
  permission: null,
  cacheSeconds: 300,
  ok: Type.Object({
    keys: Type.Array(
      Type.Object({
        kty: Type.Literal('OKP'),
        crv: Type.Literal('Ed25519'),
        x: Type.String(),
        kid: Type.String(),
        use: Type.Literal('sig'),
        alg: Type.Literal('EdDSA'),
      }),
    ),
  }),
})
