import { Type } from 'typebox'
import { operation } from './operation.ts'

/** Specification §2.1, with the `ttl` of the wider API. */
export const JwtAuthorize = Type.Object(
  {
    username: Type.String({ minLength: 1, maxLength: 256, description: 'Name of the user' }),
    password: Type.String({ minLength: 1, maxLength: 256, description: 'Password of the user' }),
    ttl: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 86_400,
        default: 300,
        description: 'Life of the token, in seconds',
      }),
    ),
  },
  { additionalProperties: false },
)

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
  since: '0.1.0',
  permission: null,
  body: JwtAuthorize,
  ok: AccessToken,
  errors: ['invalid_credentials', 'too_many_requests'],
})
