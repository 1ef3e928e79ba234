import { type Static, Type } from 'typebox'
import { closed } from '../../contract/closed.ts'
import { selectQuery } from '../../contract/fields-query.ts'
import { operation } from '../../contract/operation.ts'
import { cursorQuery, PageQuery, searchQuery, sortQuery } from '../../contract/page.ts'
import { settledFields } from '../../contract/settled-fields.ts'
import { OldPassword, Password } from './passwords.ts'
import { ManagementName, RoleUid } from './roles.ts'

const UserUid = Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Identifier of the user' })
const UserName = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: '^[^\\s&<>":\\x00-\\x1f\\x7f]+( [^\\s&<>":\\x00-\\x1f\\x7f]+)*$',
  description: 'Characters other than & < > " and :, with single spaces between words',
})
const Email = Type.String({
  maxLength: 256,
  pattern: '^[^\\s&<>":@\\x00-\\x1f\\x7f]+@[^\\s&<>":@\\x00-\\x1f\\x7f]+$',
  description: 'An address like name@example.org, without spaces and & < > " :',
})

const UserStatus = Type.Enum(['active', 'locked', 'password_expired', 'disabled'])

/** A user in answers, without passwords. */
export const User = Type.Object({
  uid: UserUid,
  name: Type.String(),
  email: Type.Optional(Type.String({ description: 'Signs in as well as the name' })),
  role: Type.Enum([...ManagementName.enum], { description: 'The most powerful management of its roles' }),
  role_uids: Type.Array(RoleUid),
  auth_method: Type.Literal('regular'),
  status: UserStatus,
  password_issue_date: Type.String({ description: 'Of the newest password' }),
  last_login: Type.Optional(Type.Integer({ description: 'Unix seconds' })),
  email_alerts: Type.Boolean({ description: 'Kept for programs: no alerts are sent yet' }),
  cluster_email_alerts: Type.Boolean(),
  bdbs_email_alerts: Type.Array(Type.String()),
})
export type User = Static<typeof User>

/** The alert settings of the wider API. */
const alertFields = {
  email_alerts: Type.Optional(Type.Boolean({ description: 'Kept for programs: no alerts are sent yet' })),
  cluster_email_alerts: Type.Optional(Type.Boolean()),
  bdbs_email_alerts: Type.Optional(
    Type.Array(Type.String({ maxLength: 32 }), {
      maxItems: 1_000,
      description: 'Uids of databases, or "all"',
    }),
  ),
}
const preferenceFields = { auth_method: Type.Optional(Type.Literal('regular')), ...alertFields }
const roleFields = {
  role: Type.Optional(
    Type.Enum([...ManagementName.enum], { description: 'The built-in role of this management' }),
  ),
  role_uids: Type.Optional(Type.Array(RoleUid, { minItems: 1, maxItems: 32, uniqueItems: true })),
}

const settledInUsers = {
  ...settledFields(['uid', 'status', 'password_issue_date']),
  last_login: Type.Optional(
    Type.Integer({ description: 'Taken with any value: the very request may be the last login' }),
  ),
}

const params = Type.Object({ uid: UserUid })
const roleErrors = ['conflicting_fields', 'role_not_exist', 'unauthorized_action'] as const
const loginErrors = ['name_already_exists', 'email_already_exists'] as const

/** GET /v1/users: without passwords and hashes. */
export const listUsers = operation({
  method: 'GET',
  path: '/v1/users',
  summary: 'List the users, by uid or by `sort`',
  permission: 'view_all_users_info',
  query: closed({
    ...PageQuery.properties,
    ...cursorQuery,
    ...selectQuery,
    ...searchQuery(
      'Only those whose name or e-mail contains this, whatever its case; or whose uid is this number',
    ),
    status: Type.Optional(UserStatus),
    ...sortQuery(['uid', 'name']),
  }),
  selects: true,
  paged: true,
  tagged: true,
  ok: Type.Array(User),
})

/** GET /v1/users/:uid: without the permission, callers see only themselves. */
export const getUser = operation({
  method: 'GET',
  path: '/v1/users/:uid',
  summary: 'Show a user',
  permission: 'view_user_info',
  ownWithout: true,
  params,
  ok: User,
  errors: ['user_not_exist'],
})

/** POST /v1/users: the password must meet the cluster's rules, else `password_not_complex`. */
export const createUser = operation({
  method: 'POST',
  path: '/v1/users',
  summary: 'Create a user',
  permission: 'create_new_user',
  body: closed(
    {
      name: Type.Optional(UserName),
      email: Type.Optional(Email),
      password: Password,
      ...roleFields,
      ...preferenceFields,
    },
    { description: 'Name or e-mail is needed; the role is db_viewer by default' },
  ),
  ok: User,
  errors: ['password_not_complex', ...loginErrors, ...roleErrors, 'too_many_requests'],
})

/** PUT /v1/users/:uid: changes the sent fields; a new password, other roles and `disabled` end the tokens. */
export const updateUser = operation({
  method: 'PUT',
  path: '/v1/users/:uid',
  summary: 'Change a user. Users may change their own name, password and alerts',
  permission: 'update_user',
  ownWithout: true,
  params,
  body: closed(
    {
      name: Type.Optional(UserName),
      email: Type.Optional(Email),
      password: Type.Optional(Password),
      old_password: Type.Optional(OldPassword),
      disabled: Type.Optional(Type.Boolean({ description: 'Keeps the user out until it is false again' })),
      ...roleFields,
      ...preferenceFields,
      ...settledInUsers,
    },
    { description: 'A new password unlocks the user' },
  ),
  ok: User,
  errors: [
    'user_not_exist',
    'field_not_available',
    'invalid_credentials',
    'password_not_complex',
    'new_password_same_as_current',
    'change_last_admin_role_not_allowed',
    ...loginErrors,
    ...roleErrors,
  ],
})

/** DELETE /v1/users/:uid: refuses with `change_last_admin_role_not_allowed` for the last admin. */
export const deleteUser = operation({
  method: 'DELETE',
  path: '/v1/users/:uid',
  summary: 'Delete a user',
  permission: 'delete_user',
  params,
  ok: Type.Object({ uid: UserUid }),
  errors: ['user_not_exist', 'change_last_admin_role_not_allowed', 'unauthorized_action'],
})

/** The request's user: permissions, databases, and end of the token. */
export const Self = Type.Object({
  ...User.properties,
  permissions: Type.Array(Type.String(), {
    description: 'What its roles allow for at least something, in the order of the alphabet',
  }),
  resources: Type.Array(
    Type.Object({
      type: Type.Literal('db'),
      uids: Type.Array(Type.String()),
      permissions: Type.Array(Type.String()),
    }),
    {
      description:
        'Of `permissions`, those that hold for these databases only. All others hold for every database, and for the cluster',
    },
  ),
  signed_in_by: Type.Enum(['token', 'password', 'session'], { description: 'What came with this request' }),
  token_expires: Type.Union([Type.String(), Type.Null()], {
    description: 'When the token or the session of this request ends if it is not used; null: there is none',
  }),
  password_expires: Type.Union([Type.String(), Type.Null()], {
    description: 'When the newest password expires; null: never',
  }),
})
export type Self = Static<typeof Self>

/** GET /v1/users/self: the request's user. */
export const getSelf = operation({
  method: 'GET',
  path: '/v1/users/self',
  summary: 'Show yourself: your permissions, for which databases they hold, and when your token ends',
  permission: 'signed_in',
  ok: Self,
  errors: ['user_not_exist'],
})

const PermissionsByRole = Type.Record(
  Type.String(),
  Type.Object({
    api_permissions: Type.Array(Type.String()),
    ui_permissions: Type.Array(Type.String(), { description: 'None: the console asks the API' }),
  }),
)

/** GET /v1/users/permissions: the permissions of all seven managements. */
export const listPermissions = operation({
  method: 'GET',
  path: '/v1/users/permissions',
  summary: 'What each management may do',
  permission: 'signed_in',
  ok: PermissionsByRole,
})

/** GET /v1/users/permissions/:role: the permissions of one management. */
export const listPermissionsOfRole = operation({
  method: 'GET',
  path: '/v1/users/permissions/:role',
  summary: 'What one management may do',
  permission: 'signed_in',
  params: Type.Object({ role: ManagementName }),
  ok: PermissionsByRole,
})

/** GET /v1/users/role: the caller's. */
export const getOwnRole = operation({
  method: 'GET',
  path: '/v1/users/role',
  summary: 'Show the most powerful management of the roles of the user that asks',
  permission: 'signed_in',
  ok: Type.Object({ role: ManagementName }),
})
