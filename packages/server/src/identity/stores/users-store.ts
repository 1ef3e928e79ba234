import { Type } from 'typebox'
import { loginOf, type User, usualAlerts } from '../../core/identity/user.ts'
import type { ListPage } from '../../core/requests/list-order.ts'
import { choosePage, namedLike } from '../../store/choose-page.ts'
import { nextId } from '../../store/next-id.ts'
import type { Db } from '../../store/open-store.ts'
import { jsonColumn } from '../../store/stored-column.ts'
import type { Tables } from '../../store/tables.ts'

export type NewUser = Pick<User, 'name' | 'email' | 'roleUids'> & Partial<Pick<User, 'alerts'>>
/** A change of a user: omitted fields stay. */
export type UserChange = Partial<
  Pick<User, 'name' | 'email' | 'roleUids' | 'disabled' | 'failures' | 'alerts'>
>

/** A page of users; with `q`, only users whose name or e-mail contains it, or whose uid it is. */
export interface UsersPage extends ListPage<'uid' | 'name'> {
  readonly q?: string | undefined
}

/** Rows of `users` with their logins and roles, through `db`, which may be a transaction. */
export function usersStore(db: Db) {
  const find = () => db.selectFrom('users').selectAll()
  /** A missing user takes the same time. */
  const one = async (row: Tables['users'] | undefined) => {
    const roleUids = await rolesOf(db, row?.uid ?? 0)
    return row && fromRow(row, roleUids)
  }
  return {
    async count(): Promise<number> {
      const { users } = await db
        .selectFrom('users')
        .select((eb) => eb.fn.countAll().as('users'))
        .executeTakeFirstOrThrow()
      return Number(users)
    },
    list: (page: UsersPage) => listUsers(db, page),
    /** Returns whether there is an admin who can sign in. */
    hasAdmin: () => hasAdmin(db),
    get: async (uid: number) => one(await find().where('uid', '=', uid).executeTakeFirst()),
    /** Finds a user by name or e-mail. */
    getByLogin: async (login: string) =>
      one(
        await find()
          .where('uid', '=', (eb) =>
            eb.selectFrom('logins').select('user_uid').where('login', '=', loginOf(login)),
          )
          .executeTakeFirst(),
      ),
    /** The uid of the user with this name or e-mail. */
    uidOfLogin: (login: string) => uidOfLogin(db, login),
    /** Throws if a login is taken: check that before, in the same transaction. */
    async insert({ name, email, roleUids, alerts = usualAlerts }: NewUser, now: string): Promise<User> {
      const uid = await nextId(db, 'user')
      const row = newRow(uid, { name, email, alerts }, now)
      await db.insertInto('users').values(row).execute()
      await writeLogins(db, uid, [name, email])
      await writeRoles(db, uid, roleUids)
      return fromRow(row, roleUids)
    },
    update: (uid: number, change: UserChange, now: string) => updateUser(db, uid, change, now),
    /** Records the result of a login. An unknown `uid` takes the same time and changes nothing. */
    async noteLogin(
      uid: number,
      { failures, lastLoginMs }: Pick<User, 'failures' | 'lastLoginMs'>,
    ): Promise<void> {
      await db
        .updateTable('users')
        .set({ ...toColumns(failures), last_login_at: toIso(lastLoginMs) })
        .where('uid', '=', uid)
        .execute()
    },
    /** Ends all tokens of the user. */
    async raiseEpoch(uid: number): Promise<void> {
      await db
        .updateTable('users')
        .set((eb) => ({ token_epoch: eb('token_epoch', '+', 1) }))
        .where('uid', '=', uid)
        .execute()
    },
    async remove(uid: number): Promise<void> {
      for (const table of tablesOfUser) {
        await db.deleteFrom(table).where('user_uid', '=', uid).execute()
      }
      await db.deleteFrom('users').where('uid', '=', uid).execute()
    },
  }
}

async function uidOfLogin(db: Db, login: string): Promise<number | undefined> {
  const named = db.selectFrom('logins').select('user_uid').where('login', '=', loginOf(login))
  return (await named.executeTakeFirst())?.user_uid
}

async function listUsers(db: Db, { q, ...page }: UsersPage): Promise<readonly User[]> {
  let query = choosePage(db.selectFrom('users').selectAll(), { uid: 'uid', name: 'name' }, page)
  if (q !== undefined) query = query.where(namedLike(q, ['name', 'email']))
  const rows = await query.execute()
  const uids = rows.map(({ uid }) => uid)
  if (uids.length === 0) return []
  const held = await db
    .selectFrom('user_roles')
    .selectAll()
    .where('user_uid', 'in', uids)
    .orderBy('role_uid')
    .execute()
  const byUser = Map.groupBy(held, ({ user_uid }) => user_uid)
  return rows.map((row) => fromRow(row, byUser.get(row.uid)?.map(({ role_uid }) => role_uid) ?? []))
}

async function hasAdmin(db: Db): Promise<boolean> {
  const admin = await db
    .selectFrom('roles')
    .innerJoin('user_roles', 'user_roles.role_uid', 'roles.uid')
    .innerJoin('users', 'users.uid', 'user_roles.user_uid')
    .select('users.uid')
    .where('roles.management', '=', 'admin')
    .where('users.disabled', '=', 0)
    .limit(1)
    .executeTakeFirst()
  return admin !== undefined
}

async function updateUser(
  db: Db,
  uid: number,
  { name, email, roleUids, disabled, failures, alerts }: UserChange,
  now: string,
): Promise<void> {
  const row = await db
    .updateTable('users')
    .set({
      changed_at: now,
      ...(name !== undefined && { name }),
      ...(email !== undefined && { email }),
      ...(disabled !== undefined && { disabled: disabled ? 1 : 0 }),
      ...(failures && toColumns(failures)),
      ...(alerts && { alerts: JSON.stringify(alerts) }),
    })
    .where('uid', '=', uid)
    .returning(['name', 'email'])
    .executeTakeFirstOrThrow()
  if (name !== undefined || email !== undefined) await writeLogins(db, uid, [row.name, row.email])
  if (roleUids !== undefined) await writeRoles(db, uid, roleUids)
}

async function rolesOf(db: Db, uid: number): Promise<readonly number[]> {
  const held = await db
    .selectFrom('user_roles')
    .select('role_uid')
    .where('user_uid', '=', uid)
    .orderBy('role_uid')
    .execute()
  return held.map(({ role_uid }) => role_uid)
}

async function writeLogins(db: Db, uid: number, names: readonly (string | null)[]): Promise<void> {
  await db.deleteFrom('logins').where('user_uid', '=', uid).execute()
  const logins = new Set(names.filter((name) => name !== null).map(loginOf))
  for (const login of logins) await db.insertInto('logins').values({ login, user_uid: uid }).execute()
}

async function writeRoles(db: Db, uid: number, roleUids: readonly number[]): Promise<void> {
  await db.deleteFrom('user_roles').where('user_uid', '=', uid).execute()
  for (const role of new Set(roleUids)) {
    await db.insertInto('user_roles').values({ user_uid: uid, role_uid: role }).execute()
  }
}

const tablesOfUser = [
  ...(['user_roles', 'logins', 'login_lanes', 'passwords', 'revoked_tokens', 'sessions'] as const),
]

const emptyRow = {
  disabled: 0,
  token_epoch: 0,
  failures: 0,
  failed_at: null,
  locked_until: null,
  last_login_at: null,
}

function newRow(uid: number, { alerts, ...names }: Pick<User, 'name' | 'email' | 'alerts'>, now: string) {
  return { ...emptyRow, uid, ...names, alerts: JSON.stringify(alerts), created_at: now, changed_at: now }
}

function toColumns({ count, lastMs, lockedUntilMs }: User['failures']) {
  return { failures: count, failed_at: toIso(lastMs), locked_until: toIso(lockedUntilMs) }
}

const alertsOf = jsonColumn(
  'users',
  'alerts',
  Type.Object({ email: Type.Boolean(), cluster: Type.Boolean(), databases: Type.Array(Type.String()) }),
)

function fromRow(row: Tables['users'], roleUids: readonly number[]): User {
  return {
    uid: row.uid,
    name: row.name,
    email: row.email,
    roleUids,
    disabled: row.disabled === 1,
    tokenEpoch: row.token_epoch,
    failures: {
      count: row.failures,
      lastMs: toMs(row.failed_at),
      lockedUntilMs: toMs(row.locked_until),
    },
    lastLoginMs: toMs(row.last_login_at),
    alerts: alertsOf(row.alerts, String(row.uid)),
  }
}

const toIso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())
const toMs = (iso: string | null) => (iso === null ? null : Date.parse(iso))
