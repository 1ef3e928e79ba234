import { Refusal } from '@fairlead/api'
import type { Actor } from '../../core/identity/access.ts'
import { LAST_BUILT_IN_ACL } from '../../core/users/database-users.ts'
import type { Db, Store } from '../../store/open-store.ts'
import { type Acl, aclsStore, noteDatabasesOf } from '../stores/acls-store.ts'
import { auditStore } from '../stores/audit-store.ts'

export type Acls = ReturnType<typeof createAcls>

/**
 * Manages the rules for users of databases. A change throws Refusal, and writes its audit record in the same
 * transaction. `judge` throws Refusal for a rule that engines do not understand; `now` is Unix milliseconds.
 */
export function createAcls(deps: {
  readonly store: Store
  readonly judge: (text: string, aclUid: number | undefined) => Promise<void>
  readonly now: () => number
}) {
  const { store, judge } = deps
  const now = () => new Date(deps.now()).toISOString()
  const changedAcl = async (uid: number, change: Partial<Omit<Acl, 'uid'>>) => {
    const before = await findOwn(store.db, uid)
    const after = { ...before, ...change }
    if (after.name !== before.name) await refuseTaken(store.db, after.name)
    if (after.acl !== before.acl) await judge(after.acl, uid)
    return after
  }
  return {
    list: () => aclsStore(store.db).list(),
    /** Throws Refusal acl_not_exist. */
    get: (uid: number) => find(store.db, uid),
    judge: (text: string) => judge(text, undefined),

    /** Checks a creation without one. */
    async foresee(acl: Omit<Acl, 'uid'>): Promise<void> {
      await refuseTaken(store.db, acl.name)
      await judge(acl.acl, undefined)
    },

    async create(acl: Omit<Acl, 'uid'>, by: Actor): Promise<Acl> {
      await this.foresee(acl)
      return store.transaction(async (db) => {
        await refuseTaken(db, acl.name)
        const created = await aclsStore(db).insert(acl)
        const details = { acl: created.uid, name: acl.name, rule: acl.acl }
        await auditStore(db).append({ type: 'acl_created', by, details }, now())
        return created
      })
    },

    /** Returns the rule after a change, without the change. */
    foreseeChange: changedAcl,

    async update(uid: number, change: Partial<Omit<Acl, 'uid'>>, by: Actor): Promise<Acl> {
      const after = await changedAcl(uid, change)
      return store.transaction(async (db) => {
        const before = await findOwn(db, uid)
        if (after.name !== before.name) await refuseTaken(db, after.name)
        await aclsStore(db).update(after)
        await noteDatabasesOf(db, { aclUid: uid })
        const details = { acl: uid, name: after.name, rule: after.acl, rule_before: before.acl }
        await auditStore(db).append({ type: 'acl_updated', by, details }, now())
        return after
      })
    },

    /** Throws Refusal while a database uses the rule. */
    async foreseeRemoval(uid: number): Promise<void> {
      await refuseBound(store.db, uid)
    },

    async remove(uid: number, by: Actor): Promise<void> {
      await store.transaction(async (db) => {
        const { name } = await refuseBound(db, uid)
        await aclsStore(db).remove(uid)
        await auditStore(db).append({ type: 'acl_deleted', by, details: { acl: uid, name } }, now())
      })
    },
  }
}

/** Reads rules, and where they are used. */
export type AclRecords = ReturnType<typeof aclRecords>

/** `get` throws Refusal acl_not_exist. */
export function aclRecords({ db }: Pick<Store, 'db'>) {
  return {
    get: (uid: number) => find(db, uid),
    /** The databases that use a rule. */
    bindings: (aclUid: number) => aclsStore(db).bindings({ aclUid }),
  }
}

async function find(db: Db, uid: number): Promise<Acl> {
  const acl = await aclsStore(db).get(uid)
  if (acl === undefined) throw new Refusal('acl_not_exist', `rule ${uid} does not exist`)
  return acl
}

async function findOwn(db: Db, uid: number): Promise<Acl> {
  const acl = await find(db, uid)
  if (uid <= LAST_BUILT_IN_ACL)
    throw new Refusal('acl_is_built_in', `rule ${uid} (${acl.name}) is built in; create another one`)
  return acl
}

async function refuseBound(db: Db, uid: number): Promise<Acl> {
  const acl = await findOwn(db, uid)
  const [bound] = await aclsStore(db).bindings({ aclUid: uid })
  if (bound === undefined) return acl
  throw new Refusal(
    'acl_in_use',
    `database ${bound.databaseUid} uses rule ${uid} for role ${bound.roleUid}; change its roles_permissions first`,
  )
}

async function refuseTaken(db: Db, name: string): Promise<void> {
  if ((await aclsStore(db).getByName(name)) === undefined) return
  throw new Refusal('name_already_exists', `name: a rule named ${name} exists`)
}
