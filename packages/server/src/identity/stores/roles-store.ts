import { type Management, managements } from '@fairlead/api'
import { Type } from 'typebox'
import { LAST_BUILT_IN_ROLE, type Role } from '../../core/identity/user.ts'
import type { ListPage } from '../../core/requests/list-order.ts'
import { choosePage, namedLike } from '../../store/choose-page.ts'
import { nextId } from '../../store/next-id.ts'
import type { Db } from '../../store/open-store.ts'
import { jsonColumn, wordColumn } from '../../store/stored-column.ts'

/** A page of roles; with `q`, only roles whose name contains it, or whose uid it is. */
export interface RolesPage extends ListPage<'uid' | 'name'> {
  readonly q?: string | undefined
  readonly management?: Management | undefined
}

/** Rows of `roles`, through `db`, which may be a transaction. */
export function rolesStore(db: Db) {
  const find = () => db.selectFrom('roles').selectAll()
  return {
    list: (page: RolesPage) => listRoles(db, page),
    /** The built-in roles of the managements. */
    async listBuiltIn(): Promise<readonly Role[]> {
      return (await find().where('uid', '<=', LAST_BUILT_IN_ROLE).orderBy('uid').execute()).map(fromRow)
    },
    /** Returns the roles with these uids, if they exist. */
    async listThese(uids: readonly number[]): Promise<readonly Role[]> {
      if (uids.length === 0) return []
      return (
        await find()
          .where('uid', 'in', [...new Set(uids)])
          .orderBy('uid')
          .execute()
      ).map(fromRow)
    },
    get: async (uid: number) => one(await find().where('uid', '=', uid).executeTakeFirst()),
    getByName: async (name: string) => one(await find().where('name', '=', name).executeTakeFirst()),
    async listOf(userUid: number): Promise<readonly Role[]> {
      const rows = await db
        .selectFrom('roles')
        .innerJoin('user_roles', 'user_roles.role_uid', 'roles.uid')
        .where('user_roles.user_uid', '=', userUid)
        .selectAll('roles')
        .orderBy('roles.uid')
        .execute()
      return rows.map(fromRow)
    },
    /** The users with this role. */
    async holders(uid: number): Promise<readonly number[]> {
      const rows = await db
        .selectFrom('user_roles')
        .select('user_uid')
        .where('role_uid', '=', uid)
        .orderBy('user_uid')
        .execute()
      return rows.map(({ user_uid }) => user_uid)
    },
    async insert({ name, management, databases }: Omit<Role, 'uid'>): Promise<Role> {
      const uid = await nextId(db, 'role')
      await db
        .insertInto('roles')
        .values({ uid, name, management, databases: JSON.stringify(databases) })
        .execute()
      return { uid, name, management, databases }
    },
    async update({ uid, name, management, databases }: Role): Promise<void> {
      await db
        .updateTable('roles')
        .set({ name, management, databases: JSON.stringify(databases) })
        .where('uid', '=', uid)
        .execute()
    },
    async remove(uid: number): Promise<void> {
      await db.deleteFrom('roles').where('uid', '=', uid).execute()
    },
  }
}

async function listRoles(db: Db, { q, management, ...page }: RolesPage): Promise<readonly Role[]> {
  let query = choosePage(db.selectFrom('roles').selectAll(), { uid: 'uid', name: 'name' }, page)
  if (q !== undefined) query = query.where(namedLike(q, ['name']))
  if (management !== undefined) query = query.where('management', '=', management)
  return (await query.execute()).map(fromRow)
}

interface Row {
  readonly uid: number
  readonly name: string
  readonly management: string
  readonly databases: string
}

const managementOf = wordColumn('roles', 'management', managements)
const databasesOf = jsonColumn('roles', 'databases', Type.Array(Type.Integer()))

function fromRow({ uid, name, management, databases }: Row): Role {
  return {
    uid,
    name,
    management: managementOf(management, uid),
    databases: databasesOf(databases, uid),
  }
}

function one(row: Row | undefined): Role | undefined {
  return row && fromRow(row)
}
