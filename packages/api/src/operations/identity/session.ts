import { type Static, Type } from 'typebox'
import { closed } from '../../contract/closed.ts'
import { operation } from '../../contract/operation.ts'
import { JwtAuthorize } from './authorize-user.ts'

/** The lifetime of a browser session. */
export const Session = Type.Object({
  expires: Type.String({ description: 'When it ends at the latest, whether it is used or not' }),
  idle_seconds: Type.Integer({ description: 'It ends earlier if it is not used for so long' }),
})
export type Session = Static<typeof Session>

const { username, password } = JwtAuthorize.properties

/** POST /v1/session: like `authorizeUser`, with a cookie that no script can read. */
export const beginSession = operation({
  method: 'POST',
  path: '/v1/session',
  summary: 'Sign in from a browser: a name and a password for a cookie that no script can read',
  permission: null,
  body: closed({ username, password }),
  setsCookie: true,
  ok: Session,
  errors: ['invalid_credentials', 'password_expired', 'too_many_requests', 'foreign_page'],
})

/** DELETE /v1/session: ends the session of the request's cookie; `invalid_request` without one. */
export const endSession = operation({
  method: 'DELETE',
  path: '/v1/session',
  summary: 'Sign out of a browser: end the session that the cookie of the request belongs to',
  permission: 'signed_in',
  setsCookie: true,
  ok: Type.Object({ ended: Type.Literal(true) }),
  errors: ['invalid_request'],
})
