import type { DatabaseUser, RolePermission } from '../../core/access/sign-in.ts'
import { effectiveRule } from '../../core/users/database-users.ts'
import type { Db } from '../../store/open-store.ts'

/** Roles that sign in to databases, and their users; `db` may be a transaction. */
export function databaseUsersStore(db: Db) {
  return {
    /** Map from database to its bindings, by role; databases without any are missing. */
    async permissionsOf(
      databaseUids: readonly number[],
    ): Promise<ReadonlyMap<number, readonly RolePermission[]>> {
      const rows = await db
        .selectFrom('roles_permissions')
        .selectAll()
        .where('database_uid', 'in', [...databaseUids])
        .orderBy('role_uid')
        .execute()
      return grouped(rows, ({ role_uid, acl_uid }) => ({ roleUid: role_uid, aclUid: acl_uid }))
    },
    /** Map from database to the users that it lets in, by name; without disabled ones. */
    async usersOf(databaseUids: readonly number[]): Promise<ReadonlyMap<number, readonly DatabaseUser[]>> {
      if (databaseUids.length === 0) return new Map()
      const rows = await grantsOf(db, databaseUids)
      const users = [...new Set(rows.map((row) => row.user_uid))]
      if (users.length === 0) return new Map()
      const passwords = await db
        .selectFrom('passwords')
        .select(['user_uid', 'password_sha256'])
        .where('user_uid', 'in', users)
        .orderBy('id')
        .execute()
      const digests = Map.groupBy(passwords, ({ user_uid }) => user_uid)
      const byDatabase = Map.groupBy(rows, ({ database_uid }) => database_uid)
      return new Map(
        [...byDatabase].map(([uid, grants]) => [
          uid,
          [...Map.groupBy(grants, ({ user_uid }) => user_uid)].map(([user, own]) => ({
            name: own[0]?.name ?? '',
            digests: (digests.get(user) ?? []).flatMap(({ password_sha256 }) => password_sha256 ?? []),
            rules: [...new Set(own.map(effectiveRule))],
          })),
        ]),
      )
    },
    async replace(databaseUid: number, permissions: readonly RolePermission[]): Promise<void> {
      await db.deleteFrom('roles_permissions').where('database_uid', '=', databaseUid).execute()
      const rows = permissions.map(({ roleUid, aclUid }) => ({
        database_uid: databaseUid,
        role_uid: roleUid,
        acl_uid: aclUid,
      }))
      if (rows.length > 0) await db.insertInto('roles_permissions').values(rows).execute()
    },
  }
}

/** One row for each database, user and role of the user. */
function grantsOf(db: Db, databaseUids: readonly number[]) {
  return db
    .selectFrom('roles_permissions')
    .innerJoin('user_roles', 'user_roles.role_uid', 'roles_permissions.role_uid')
    .innerJoin('users', 'users.uid', 'user_roles.user_uid')
    .innerJoin('acls', 'acls.uid', 'roles_permissions.acl_uid')
    .select([
      'roles_permissions.database_uid',
      'user_roles.user_uid',
      'users.name',
      'acls.uid as uid',
      'acls.acl',
    ])
    .where('roles_permissions.database_uid', 'in', [...databaseUids])
    .where('users.disabled', '=', 0)
    .orderBy('users.name')
    .orderBy('roles_permissions.role_uid')
    .execute()
}

function grouped<Row extends { readonly database_uid: number }, To>(
  rows: readonly Row[],
  read: (row: Row) => To,
): ReadonlyMap<number, readonly To[]> {
  const byDatabase = Map.groupBy(rows, ({ database_uid }) => database_uid)
  return new Map([...byDatabase].map(([uid, own]) => [uid, own.map(read)]))
}
