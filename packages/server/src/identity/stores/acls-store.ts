import { nextId } from '../../store/next-id.ts'
import type { Db } from '../../store/open-store.ts'

/** A rule for what users may do in databases, in the engines' words. */
export interface Acl {
  readonly uid: number
  readonly name: string
  readonly acl: string
}

/** A role whose users sign in to a database under a rule. */
export interface Binding {
  readonly databaseUid: number
  readonly roleUid: number
  readonly aclUid: number
}

/** Rows of `acls` and their bindings, through `db`, which may be a transaction. */
export function aclsStore(db: Db) {
  const find = () => db.selectFrom('acls').selectAll()
  return {
    /** By uid. */
    list: (): Promise<readonly Acl[]> => find().orderBy('uid').execute(),
    get: (uid: number): Promise<Acl | undefined> => find().where('uid', '=', uid).executeTakeFirst(),
    getByName: (name: string): Promise<Acl | undefined> => find().where('name', '=', name).executeTakeFirst(),
    async insert(acl: Omit<Acl, 'uid'>): Promise<Acl> {
      const row = { uid: await nextId(db, 'acl'), ...acl }
      await db.insertInto('acls').values(row).execute()
      return row
    },
    async update({ uid, ...acl }: Acl): Promise<void> {
      await db.updateTable('acls').set(acl).where('uid', '=', uid).execute()
    },
    async remove(uid: number): Promise<void> {
      await db.deleteFrom('acls').where('uid', '=', uid).execute()
    },
    /** The databases that use a rule, or a role. */
    async bindings(
      of: { readonly aclUid: number } | { readonly roleUid: number },
    ): Promise<readonly Binding[]> {
      const all = db.selectFrom('roles_permissions').selectAll().orderBy('database_uid')
      const those =
        'aclUid' in of ? all.where('acl_uid', '=', of.aclUid) : all.where('role_uid', '=', of.roleUid)
      return (await those.execute()).map((row) => ({
        databaseUid: row.database_uid,
        roleUid: row.role_uid,
        aclUid: row.acl_uid,
      }))
    },
  }
}

/**
 * Makes the servers look at the databases where this user signs in, or that use this rule. Call it in the
 * transaction of the change: before a user loses roles, and after it gets some.
 */
export async function noteDatabasesOf(
  db: Db,
  of: { readonly userUid: number } | { readonly aclUid: number },
): Promise<void> {
  const bound = db.selectFrom('roles_permissions').select('database_uid').distinct()
  const those =
    'aclUid' in of
      ? bound.where('acl_uid', '=', of.aclUid)
      : bound.where('role_uid', 'in', (eb) =>
          eb.selectFrom('user_roles').select('role_uid').where('user_uid', '=', of.userUid),
        )
  for (const { database_uid } of await those.orderBy('database_uid').execute()) {
    const seq = await nextId(db, 'database_change')
    await db.updateTable('databases').set({ seq }).where('uid', '=', database_uid).execute()
  }
}
