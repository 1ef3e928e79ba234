import { isDeepStrictEqual } from 'node:util'
import { type Management, Refusal } from '@fairlead/api'
import { actorOf, type Caller, isAdmin, isLimitable } from '../../core/identity/access.ts'
import { LAST_BUILT_IN_ROLE, type Role } from '../../core/identity/user.ts'
import type { Db, Store } from '../../store/open-store.ts'
import type { Identities } from '../sessions/identities.ts'
import { aclsStore } from '../stores/acls-store.ts'
import { auditStore } from '../stores/audit-store.ts'
import { type RolesPage, rolesStore } from '../stores/roles-store.ts'
import { usersStore } from '../stores/users-store.ts'

export type Roles = ReturnType<typeof createRoles>

/**
 * Manages roles and applies each change to the users of the role. A change throws Refusal, and writes its
 * audit record in the same transaction. `identities` forgets the users of a changed role; `now` is Unix
 * milliseconds.
 */
export function createRoles(deps: {
  readonly store: Store
  readonly identities: Identities
  readonly now: () => number
}) {
  const { store, identities } = deps
  const now = () => new Date(deps.now()).toISOString()

  return {
    list: (page: RolesPage) => rolesStore(store.db).list(page),
    /** Throws Refusal role_not_exist. */
    get: (uid: number) => find(store.db, uid),

    /** Returns the uid of the built-in role with this management. */
    async builtIn(management: Management): Promise<number> {
      const roles = await rolesStore(store.db).listBuiltIn()
      const role = roles.find((one) => one.management === management)
      if (role === undefined) throw new Error(`there is no built-in role for ${management}`)
      return role.uid
    },

    async create(role: Omit<Role, 'uid'>, caller: Caller): Promise<Role> {
      refuseWrong(role, caller)
      return store.transaction(async (db) => {
        await refuseTaken(db, role.name)
        const created = await rolesStore(db).insert(role)
        const details = { role: created.uid, name: role.name, management: role.management }
        await auditStore(db).append({ type: 'role_created', by: actorOf(caller), details }, now())
        return created
      })
    },

    /** Ends the tokens of the role's users. */
    async update(uid: number, change: Partial<Omit<Role, 'uid'>>, caller: Caller): Promise<Role> {
      const { role, holders } = await store.transaction((db) => updateRole(db, uid, change, caller, now()))
      for (const user of holders) identities.forget(user)
      return role
    },

    async remove(uid: number, caller: Caller): Promise<void> {
      await store.transaction(async (db) => {
        const role = await findOwn(db, uid)
        refuseWrong(role, caller)
        const holders = await rolesStore(db).holders(uid)
        if (holders.length > 0) {
          throw new Refusal(
            'role_in_use',
            `role ${uid} belongs to ${holders.length} users, user ${holders[0]} among them`,
          )
        }
        const [bound] = await aclsStore(db).bindings({ roleUid: uid })
        if (bound !== undefined) {
          throw new Refusal(
            'role_in_use',
            `role ${uid} signs in to database ${bound.databaseUid}; take it out of its roles_permissions first`,
          )
        }
        await rolesStore(db).remove(uid)
        const details = { role: uid, name: role.name }
        await auditStore(db).append({ type: 'role_deleted', by: actorOf(caller), details }, now())
      })
    },
  }
}

/** Changes a role and ends the tokens of its users. Returns the role and the uids of these users. */
async function updateRole(
  db: Db,
  uid: number,
  change: Partial<Omit<Role, 'uid'>>,
  caller: Caller,
  now: string,
): Promise<{ readonly role: Role; readonly holders: readonly number[] }> {
  const before = await find(db, uid)
  const after = { ...before, ...change }
  if (isDeepStrictEqual(after, before)) return { role: before, holders: [] }
  refuseBuiltIn(before)
  refuseWrong(before, caller)
  refuseWrong(after, caller)
  await refuseOfAdmin(db, uid, caller)
  if (after.name !== before.name) await refuseTaken(db, after.name)
  const roles = rolesStore(db)
  await roles.update(after)
  if (!(await usersStore(db).hasAdmin())) throw new Refusal('change_last_admin_role_not_allowed')
  const holders = await roles.holders(uid)
  for (const user of holders) await usersStore(db).raiseEpoch(user)
  const details = { role: uid, fields: Object.keys(change).join(' '), management: after.management }
  await auditStore(db).append({ type: 'role_updated', by: actorOf(caller), details }, now)
  return { role: after, holders }
}

async function find(db: Db, uid: number): Promise<Role> {
  const role = await rolesStore(db).get(uid)
  if (role === undefined) throw new Refusal('role_not_exist', `role ${uid} does not exist`)
  return role
}

async function findOwn(db: Db, uid: number): Promise<Role> {
  const role = await find(db, uid)
  refuseBuiltIn(role)
  return role
}

function refuseBuiltIn({ uid, name }: Role): void {
  if (uid <= LAST_BUILT_IN_ROLE)
    throw new Refusal('role_is_built_in', `role ${uid} (${name}) is built in; create another one`)
}

/** Only an admin may change a role that an admin has: the change ends the admin's tokens. */
async function refuseOfAdmin(db: Db, uid: number, { user }: Caller): Promise<void> {
  if (isAdmin(user)) return
  for (const holder of await rolesStore(db).holders(uid)) {
    const held = await rolesStore(db).listOf(holder)
    if (held.some(({ management }) => management === 'admin')) {
      throw new Refusal('unauthorized_action', `role ${uid} is held by an admin; only an admin may change it`)
    }
  }
}

async function refuseTaken(db: Db, name: string): Promise<void> {
  if ((await rolesStore(db).getByName(name)) === undefined) return
  throw new Refusal('name_already_exists', `name: a role named ${name} exists`)
}

function refuseWrong({ management, databases }: Omit<Role, 'uid'>, { user }: Caller): void {
  if (management === 'admin' && !isAdmin(user)) {
    throw new Refusal('unauthorized_action', 'management: only an admin may give or take admin')
  }
  if (databases.length > 0 && !isLimitable(management)) {
    throw new Refusal(
      'unsupported_resource',
      `resources: a role of management ${management} is not limited to databases; db_member and db_viewer can be`,
    )
  }
}
