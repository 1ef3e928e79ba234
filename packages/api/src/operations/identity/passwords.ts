import { Type } from 'typebox'
import { closed } from '../../contract/closed.ts'
import { operation } from '../../contract/operation.ts'

/** Any text: rules for new passwords are settings of the cluster. */
export const Password = Type.String({ minLength: 1, maxLength: 256, description: 'Password of the user' })

/** For `PUT` and `POST`; a wrong one counts as a failed login. */
export const OldPassword = Type.String({
  minLength: 1,
  maxLength: 256,
  description:
    'A valid password of that user. Needed if callers who are no admins change their own password in a request with a token',
})

const Username = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 256,
    description: 'The user whose password it is; without it, the caller. Only admins may name another user',
  }),
)

const NewPassword = closed({
  username: Username,
  new_password: Password,
  old_password: Type.Optional(OldPassword),
})
const Done = Type.Object({
  username: Type.String(),
  passwords: Type.Integer({ description: 'How many valid passwords the user has now' }),
})
const shared = ['unauthorized_action', 'user_not_exist', 'invalid_credentials'] as const
const ofNew = ['password_not_complex', 'new_password_same_as_current'] as const

/** PUT /v1/users/password: also accepts an expired password, sent as Basic. */
export const setPassword = operation({
  method: 'PUT',
  path: '/v1/users/password',
  summary: 'Replace all passwords of a user by one; signs the user out everywhere',
  permission: 'signed_in',
  admitsExpired: true,
  body: NewPassword,
  ok: Done,
  errors: [...shared, ...ofNew],
})

/** POST /v1/users/password: all passwords sign in until one is removed; refuses with `too_many_passwords`. */
export const addPassword = operation({
  method: 'POST',
  path: '/v1/users/password',
  summary: 'Add a password that is valid in addition to the others, to change it without a gap',
  permission: 'signed_in',
  body: NewPassword,
  ok: Done,
  errors: [...shared, ...ofNew, 'too_many_passwords'],
})

/** DELETE /v1/users/password: removes the body's password; refuses with `cannot_delete_last_password`. */
export const removePassword = operation({
  method: 'DELETE',
  path: '/v1/users/password',
  summary: 'Remove one of several passwords; signs the user out everywhere',
  permission: 'signed_in',
  body: closed({ username: Username, old_password: Password }),
  ok: Done,
  errors: [...shared, 'cannot_delete_last_password'],
})
