import type { Database } from '@fairlead/api'
import type { SignIn } from '../../core/access/sign-in.ts'

/** Returns how users sign in to a database, as the API shows it. */
export function signInToWire({ defaultUser, rolesPermissions }: SignIn): Fields {
  return {
    default_user: defaultUser,
    roles_permissions: rolesPermissions.map(({ roleUid, aclUid }) => ({
      role_uid: roleUid,
      redis_acl_uid: aclUid,
    })),
  }
}

type Fields = Pick<Database, 'default_user' | 'roles_permissions'>

/** Splits a request into these fields and others. */
export function signInFromWire<Sent extends { readonly [Name in keyof Fields]?: Fields[Name] }>({
  default_user: defaultUser,
  roles_permissions: bindings,
  ...rest
}: Sent): { readonly request: Partial<SignIn>; readonly rest: Omit<Sent, keyof Fields> } {
  const request = {
    ...(defaultUser !== undefined && { defaultUser }),
    ...(bindings && { rolesPermissions: permissionsIn(bindings) }),
  }
  return { request, rest }
}

/** The last one of a role counts. */
function permissionsIn(sent: Fields['roles_permissions']): SignIn['rolesPermissions'] {
  const byRole = new Map(sent.map(({ role_uid, redis_acl_uid }) => [role_uid, redis_acl_uid]))
  return [...byRole]
    .map(([roleUid, aclUid]) => ({ roleUid, aclUid }))
    .toSorted((a, b) => a.roleUid - b.roleUid)
}

/** The password of the database's own user, in both spellings. */
export function passwordToWire(password: string) {
  return { authentication_engine_pass: password, authentication_redis_pass: password }
}
