import { type Static, Type } from 'typebox'
import { closed } from '../../contract/closed.ts'
import { selectQuery } from '../../contract/fields-query.ts'
import { operation } from '../../contract/operation.ts'
import { cursorQuery, PageQuery, searchQuery, sortQuery } from '../../contract/page.ts'
import { managements } from '../../contract/permissions.ts'
import { settledFields } from '../../contract/settled-fields.ts'

/** Identifies a role. Built-in roles have the lowest numbers. */
export const RoleUid = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })
/** The name of a management. */
export const ManagementName = Type.Enum([...managements])
const RoleName = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: '^[A-Za-z0-9_ \\[\\]()@,.;#-]+$',
  description: 'Letters, digits, spaces and _ [ ] ( ) @ , . ; # -',
})

const Resources = Type.Array(
  closed({
    type: Type.Literal('db'),
    uids: Type.Array(
      Type.String({
        pattern: '^[1-9][0-9]{0,9}$',
        description: 'The uid of a database as a text, like "1"',
      }),
      { minItems: 1, maxItems: 1_000 },
    ),
  }),
  {
    maxItems: 1,
    description:
      'Limits db_member and db_viewer to these databases; empty: all. Such a role creates no database',
  },
)

/** A role in answers; without `resources` it applies to all databases. */
export const Role = Type.Object({
  uid: RoleUid,
  name: Type.String(),
  management: ManagementName,
  resources: Resources,
})
export type Role = Static<typeof Role>

const settledInRoles = settledFields(['uid'])
const params = Type.Object({ uid: RoleUid })

/** GET /v1/roles: built-in and created roles. */
export const listRoles = operation({
  method: 'GET',
  path: '/v1/roles',
  summary: 'List the roles, by uid or by `sort`',
  permission: 'view_all_roles_info',
  query: closed({
    ...PageQuery.properties,
    ...cursorQuery,
    ...selectQuery,
    ...searchQuery('Only those whose name contains this, whatever its case; or whose uid is this number'),
    management: Type.Optional(Type.Enum([...managements])),
    ...sortQuery(['uid', 'name']),
  }),
  selects: true,
  paged: true,
  tagged: true,
  ok: Type.Array(Role),
})

/** GET /v1/roles/:uid: refuses with `role_not_exist`. */
export const getRole = operation({
  method: 'GET',
  path: '/v1/roles/:uid',
  summary: 'Show a role',
  permission: 'view_role_info',
  params,
  ok: Role,
  errors: ['role_not_exist'],
})

/** POST /v1/roles: may be limited to databases; `unsupported_resource` if its management cannot be. */
export const createRole = operation({
  method: 'POST',
  path: '/v1/roles',
  summary: 'Create a role',
  permission: 'create_role',
  body: closed({ name: RoleName, management: ManagementName, resources: Type.Optional(Resources) }),
  ok: Role,
  errors: ['name_already_exists', 'unsupported_resource', 'unauthorized_action'],
})

/** PUT /v1/roles/:uid: changes the sent fields; the tokens of all users with this role end. */
export const updateRole = operation({
  method: 'PUT',
  path: '/v1/roles/:uid',
  summary: 'Change a role, and with it what its users may do; signs them out',
  permission: 'update_role',
  params,
  body: closed({
    name: Type.Optional(RoleName),
    management: Type.Optional(ManagementName),
    resources: Type.Optional(Resources),
    ...settledInRoles,
  }),
  ok: Role,
  errors: [
    'role_not_exist',
    'field_not_available',
    'name_already_exists',
    'unsupported_resource',
    'role_is_built_in',
    'change_last_admin_role_not_allowed',
    'unauthorized_action',
  ],
})

/** DELETE /v1/roles/:uid: refuses for built-in roles, and with `role_in_use` while a user has it. */
export const deleteRole = operation({
  method: 'DELETE',
  path: '/v1/roles/:uid',
  summary: 'Delete a role that no user has',
  permission: 'delete_role',
  params,
  ok: Type.Object({ uid: RoleUid }),
  errors: ['role_not_exist', 'role_is_built_in', 'role_in_use', 'unauthorized_action'],
})
