import { type Static, Type } from 'typebox'
import { closed } from '../../contract/closed.ts'
import { flag } from '../../contract/fields-query.ts'
import { operation } from '../../contract/operation.ts'
import { settledFields } from '../../contract/settled-fields.ts'

/** Identifies a rule for users of databases. The built-in rules are 1 to 3. */
export const AclUid = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })
const AclName = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: '^[A-Za-z0-9_ \\[\\]()@,.;#-]+$',
  description: 'Letters, digits, spaces and _ [ ] ( ) @ , . ; # -',
})
const AclRule = Type.String({
  maxLength: 10_000,
  description:
    'Commands, keys and channels in the engines’ words: "+@read ~app:* &news:*". Administration and commands beyond the database stay denied, whatever it says',
})

/** A rule in answers. */
export const Acl = Type.Object({
  uid: Type.Integer({ description: '0 of a rule that would be created' }),
  name: Type.String(),
  acl: Type.String(),
})
export type Acl = Static<typeof Acl>

const params = Type.Object({ uid: AclUid })
const query = closed({ dry_run: flag('Change nothing: answer as it would be') })

/** The operations at one of the two spellings of the path. */
function aclOperations<const Name extends Spelling>(name: Name) {
  return { ...reading(name), ...changing(name) }
}

type Spelling = 'redis_acls' | 'engine_acls'

function reading<const Name extends Spelling>(name: Name) {
  const path = `/v1/${name}` as const
  const one = `/v1/${name}/:uid` as const
  return {
    list: operation({
      method: 'GET',
      path,
      summary: 'List the rules for users of databases, by uid',
      permission: 'view_all_redis_acls_info',
      ok: Type.Array(Acl),
    }),
    get: operation({
      method: 'GET',
      path: one,
      summary: 'Show a rule for users of databases',
      permission: 'view_redis_acl_info',
      params,
      ok: Acl,
      errors: ['acl_not_exist'],
    }),
    validate: operation({
      method: 'POST',
      path: `/v1/${name}/validate` as const,
      summary: 'Check a rule like its creation',
      permission: 'create_redis_acl',
      body: closed({ name: Type.Optional(AclName), acl: AclRule }),
      ok: Type.Object({ acl: Type.String() }),
      errors: ['invalid_acl', 'unavailable'],
    }),
  }
}

function changing<const Name extends Spelling>(name: Name) {
  const path = `/v1/${name}` as const
  const one = `/v1/${name}/:uid` as const
  return {
    create: operation({
      method: 'POST',
      path,
      summary: 'Create a rule for users of databases; running engines check it',
      permission: 'create_redis_acl',
      query,
      body: closed({ name: AclName, acl: AclRule }),
      ok: Acl,
      errors: ['name_already_exists', 'invalid_acl', 'unavailable'],
    }),
    update: operation({
      method: 'PUT',
      path: one,
      summary: 'Change a rule: in force for all of its users within about a second',
      permission: 'update_redis_acl',
      params,
      query,
      body: closed({
        name: Type.Optional(AclName),
        acl: Type.Optional(AclRule),
        ...settledFields(['uid']),
      }),
      ok: Acl,
      errors: [
        'acl_not_exist',
        'acl_is_built_in',
        'field_not_available',
        'name_already_exists',
        'invalid_acl',
        'unavailable',
      ],
    }),
    remove: operation({
      method: 'DELETE',
      path: one,
      summary: 'Delete a rule that no database uses',
      permission: 'delete_redis_acl',
      params,
      query,
      ok: Type.Object({ uid: AclUid }),
      errors: ['acl_not_exist', 'acl_is_built_in', 'acl_in_use'],
    }),
  }
}

/** /v1/redis_acls: rules for users of databases, in the wider API's spelling. */
export const redisAcls = aclOperations('redis_acls')
/** /v1/engine_acls: the same in the neutral spelling. */
export const engineAcls = aclOperations('engine_acls')
