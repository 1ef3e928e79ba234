import { Refusal } from '@fairlead/api'
import { actorOf, type Caller, isAdmin, may, mayDoWithout } from '../../core/identity/access.ts'
import { noFailures } from '../../core/identity/lockout.ts'
import { expiryOf } from '../../core/identity/password-rules.ts'
import {
  type Alerts,
  loginOf,
  nameFault,
  type Role,
  statusOf,
  type User,
  type UserStatus,
} from '../../core/identity/user.ts'
import { readInPieces } from '../../store/choose-page.ts'
import type { Db, Store } from '../../store/open-store.ts'
import { confirmOld, refuseWithoutOld } from '../passwords/passwords-service.ts'
import type { UserPasswords } from '../passwords/user-passwords.ts'
import type { Identities } from '../sessions/identities.ts'
import type { Logins } from '../sessions/logins.ts'
import { noteDatabasesOf } from '../stores/acls-store.ts'
import { auditStore } from '../stores/audit-store.ts'
import { loginLanesStore } from '../stores/login-lanes-store.ts'
import { passwordsStore } from '../stores/passwords-store.ts'
import { rolesStore } from '../stores/roles-store.ts'
import { settingsStore } from '../stores/settings-store.ts'
import { type UserChange, type UsersPage, usersStore } from '../stores/users-store.ts'

/** A user as the API shows it. From `newestPasswordMs` (Unix milliseconds) the password's age is counted. */
export interface UserView {
  readonly user: User
  readonly roles: readonly Role[]
  readonly status: UserStatus
  readonly newestPasswordMs: number
  /** Unix milliseconds; null: never. */
  readonly passwordExpiresMs: number | null
}

export interface NewUserRequest extends Pick<User, 'name' | 'email' | 'roleUids' | 'alerts'> {
  readonly password: string
}
/** A change of a user: omitted fields stay. */
export type UserRequest = Partial<Omit<NewUserRequest, 'email' | 'alerts'> & Pick<User, 'disabled'>> & {
  readonly email?: string
  /** Omitted fields stay. */
  readonly alerts?: Partial<Alerts>
  /** Users give it when they change their own password; see mayDoWithout. */
  readonly oldPassword?: string
}

/** Selects the users of a list. */
export interface UsersQuery extends UsersPage {
  readonly status?: UserStatus | undefined
}

interface UsersDeps {
  readonly store: Store
  readonly passwords: UserPasswords
  readonly identities: Identities
  readonly logins: Pick<Logins, 'confirm'>
  readonly now: () => number
}

export type Users = ReturnType<typeof createUsers>

/**
 * Manages users, their roles and first passwords. Changes throw Refusal, and write their audit records.
 * `logins` counts wrong old passwords as failed logins; `now` is Unix milliseconds.
 */
export function createUsers(deps: UsersDeps) {
  const { store, passwords, identities } = deps
  const now = () => new Date(deps.now()).toISOString()
  const get = (uid: number) => getView(store.db, uid, deps.now())

  return {
    list: (query: UsersQuery) => listViews(store.db, query, deps.now()),
    /** Throws Refusal user_not_exist. */
    get,

    async create({ password, ...user }: NewUserRequest, caller: Caller): Promise<UserView> {
      refuseOddNames(user)
      const hashed = await passwords.prepare(password, [user.name, user.email ?? ''])
      const created = await store.transaction(async (db) => {
        await refuseTaken(db, user)
        await refuseGivingAdmin(db, caller, user.roleUids)
        const inserted = await usersStore(db).insert(user, now())
        await passwordsStore(db).insert(inserted.uid, hashed, now())
        await noteDatabasesOf(db, { userUid: inserted.uid })
        const details = { user: inserted.uid, name: user.name, roles: user.roleUids.join(' ') }
        await auditStore(db).append({ type: 'user_created', by: actorOf(caller), details }, now())
        return inserted
      })
      return get(created.uid)
    },

    /** A new password unlocks the user and ends its tokens; new roles and disabling end its tokens, too. */
    async update(uid: number, request: UserRequest, caller: Caller): Promise<UserView> {
      await updateUser(deps, uid, request, caller)
      identities.forget(uid)
      return get(uid)
    },

    async remove(uid: number, caller: Caller): Promise<void> {
      await store.transaction(async (db) => {
        const users = usersStore(db)
        const user = (await users.get(uid)) ?? refuseUnknown(uid)
        await refuseGivingAdmin(db, caller, user.roleUids)
        await noteDatabasesOf(db, { userUid: uid })
        await users.remove(uid)
        await refuseWithoutAdmin(db)
        const details = { user: uid, name: user.name }
        await auditStore(db).append({ type: 'user_deleted', by: actorOf(caller), details }, now())
      })
      identities.forget(uid)
    },
  }
}

/** Applies a change. It refuses what the caller may not do, a wrong old password and taken names. */
async function updateUser(
  { store, passwords, logins, now }: Pick<UsersDeps, 'store' | 'passwords' | 'logins' | 'now'>,
  uid: number,
  { password, oldPassword, ...request }: UserRequest,
  caller: Caller,
): Promise<void> {
  const { user } = await getView(store.db, uid, now())
  refuseOddNames(request, user)
  const wanted = { ...request, ...(password !== undefined && { password }) }
  await refuseBeyond(store.db, caller, user, wanted) // before it compares a password, which would be a hint
  if (oldPassword !== undefined) await confirmOld(user, oldPassword, caller, logins)
  else if (password !== undefined && caller.user.uid === uid && !mayDoWithout(caller)) refuseWithoutOld()
  const names = [request.name ?? user.name, request.email ?? user.email ?? '']
  const hashed = password === undefined ? undefined : await passwords.prepare(password, names, uid)
  await store.transaction(async (db) => {
    const at = new Date(now()).toISOString()
    const users = usersStore(db)
    const before = (await users.get(uid)) ?? refuseUnknown(uid)
    await refuseBeyond(db, caller, before, wanted)
    await refuseTaken(db, request, uid)
    const { alerts, ...others } = request
    const change: UserChange = {
      ...others,
      ...(alerts && { alerts: { ...before.alerts, ...alerts } }),
      ...(hashed !== undefined && { failures: noFailures }),
    }
    await noteDatabasesOf(db, { userUid: uid })
    await users.update(uid, change, at)
    await noteDatabasesOf(db, { userUid: uid })
    await refuseWithoutAdmin(db)
    if (hashed !== undefined) await passwords.replace(db, uid, hashed)
    if (hashed !== undefined || endsTokens(before, request)) await users.raiseEpoch(uid)
    const fields = [...Object.keys(request), ...(hashed === undefined ? [] : ['password'])].join(' ')
    const details = { user: uid, fields, ...rolesChanged(before, request) }
    await auditStore(db).append({ type: 'user_updated', by: actorOf(caller), details }, at)
  })
}

/** For the audit: the roles before and after a change; undefined if the change names none. */
function rolesChanged(before: User, { roleUids }: UserRequest) {
  return roleUids && { rolesBefore: before.roleUids.join(' '), roles: roleUids.join(' ') }
}

async function getView(db: Db, uid: number, nowMs: number): Promise<UserView> {
  const user = (await usersStore(db).get(uid)) ?? refuseUnknown(uid)
  const [view] = await viewsOf(db, [user], nowMs)
  return view ?? refuseUnknown(uid)
}

/** The status depends on the time and the rules of the cluster, so no SQL statement can filter by it. */
async function listViews(
  db: Db,
  { status, q, ...page }: UsersQuery,
  nowMs: number,
): Promise<readonly UserView[]> {
  return readInPieces(
    page,
    async (piece) => viewsOf(db, await usersStore(db).list({ ...piece, q }), nowMs),
    ({ user }, by) => ({ value: user[by], uid: user.uid }),
    status && ((view) => view.status === status),
  )
}

async function viewsOf(db: Db, users: readonly User[], nowMs: number): Promise<readonly UserView[]> {
  const uids = users.map(({ uid }) => uid)
  const settings = await settingsStore(db).get()
  const newest = await passwordsStore(db).newestOf(uids)
  const roles = await rolesStore(db).listThese(users.flatMap(({ roleUids }) => roleUids))
  const locks = await loginLanesStore(db).lastLocksOf(uids)
  return users.map((user) => {
    const newestPasswordMs = newest.get(user.uid) ?? 0
    return {
      user,
      roles: roles.filter(({ uid }) => user.roleUids.includes(uid)),
      status: statusOf(user, { newestPasswordMs, lockedUntilMs: locks.get(user.uid) ?? 0 }, settings, nowMs),
      newestPasswordMs,
      passwordExpiresMs: expiryOf(newestPasswordMs, settings.passwordDays),
    }
  })
}

function refuseUnknown(uid: number): never {
  throw new Refusal('user_not_exist', `user ${uid} does not exist`)
}

/** Refuses odd names, but not names that a user has already. */
function refuseOddNames(
  names: { readonly name?: string; readonly email?: string | null },
  before?: Pick<User, 'name' | 'email'>,
): void {
  for (const field of ['name', 'email'] as const) {
    const name = names[field]
    const fault = name && name !== before?.[field] ? nameFault(name) : undefined
    if (fault !== undefined) throw new Refusal('invalid_request', `${field}: ${fault}`)
  }
}

async function refuseTaken(
  db: Db,
  names: { readonly name?: string; readonly email?: string | null },
  uid = 0,
) {
  for (const field of ['name', 'email'] as const) {
    const login = names[field]
    const other = login ? await usersStore(db).getByLogin(login) : undefined
    if (other === undefined || other.uid === uid) continue
    throw new Refusal(
      `${field}_already_exists`,
      `${field}: another user (uid ${other.uid}) signs in as ${loginOf(login ?? '')} already; send another ${field}`,
    )
  }
}

/** A user who manages users may not make or change admins, or could become admin in two steps. */
async function refuseGivingAdmin(db: Db, { user }: Caller, roleUids: readonly number[]): Promise<void> {
  const roles = await rolesStore(db).listThese(roleUids)
  const unknown = roleUids.find((uid) => roles.every((role) => role.uid !== uid))
  if (unknown !== undefined) throw new Refusal('role_not_exist', `role ${unknown} does not exist`)
  const admin = roles.some(({ uid, management }) => management === 'admin' && roleUids.includes(uid))
  if (admin && !isAdmin(user))
    throw new Refusal('unauthorized_action', 'only an admin may make or change an admin')
}

/** Without the permission, users may change only their own name, password and alerts. */
async function refuseBeyond(db: Db, caller: Caller, before: User, request: UserRequest): Promise<void> {
  const { name: _name, password: _password, alerts: _alerts, ...guarded } = request
  const isOwn = caller.user.uid === before.uid
  if (isOwn && Object.keys(guarded).length === 0) return
  if (!may(caller.user, 'update_user')) {
    const fields = Object.keys(guarded).map((name) => (name === 'roleUids' ? 'role_uids' : name))
    throw new Refusal(
      'unauthorized_action',
      `${fields.join(', ')}: you may change only your name, password and alerts`,
    )
  }
  await refuseGivingAdmin(db, caller, [...before.roleUids, ...(request.roleUids ?? [])])
}

async function refuseWithoutAdmin(db: Db): Promise<void> {
  if (!(await usersStore(db).hasAdmin())) throw new Refusal('change_last_admin_role_not_allowed')
}

function endsTokens(before: User, { roleUids, disabled }: UserRequest): boolean {
  const sameRoles = roleUids === undefined || roleUids.toSorted().join() === before.roleUids.toSorted().join()
  return !sameRoles || (disabled === true && !before.disabled)
}
