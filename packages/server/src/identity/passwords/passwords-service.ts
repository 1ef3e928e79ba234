import { Refusal } from '@fairlead/api'
import { type Actor, actorOf, type Caller, isAdmin, mayDoWithout } from '../../core/identity/access.ts'
import type { AuditType } from '../../core/identity/audit-record.ts'
import { noFailures } from '../../core/identity/lockout.ts'
import type { HashedPassword, User } from '../../core/identity/user.ts'
import type { Db, Store } from '../../store/open-store.ts'
import { type Hashing, sha256Of } from '../hashing/hashing.ts'
import type { Identities } from '../sessions/identities.ts'
import type { Logins } from '../sessions/logins.ts'
import { noteDatabasesOf } from '../stores/acls-store.ts'
import { auditStore } from '../stores/audit-store.ts'
import { passwordsStore } from '../stores/passwords-store.ts'
import { usersStore } from '../stores/users-store.ts'
import type { UserPasswords } from './user-passwords.ts'

/** A user and a password; without `userName`, the user is the caller. */
export interface PasswordRequest {
  readonly userName: string | undefined
  readonly password: string
  /** If given, it must be a right password of the user; see mayDoWithout. */
  readonly oldPassword?: string | undefined
}

/** The user's name, and the number of passwords after a change. */
export interface PasswordsLeft {
  readonly userName: string
  readonly passwords: number
}

const MOST_PASSWORDS = 10

interface PasswordsDeps {
  readonly store: Store
  readonly hashing: Hashing
  readonly passwords: UserPasswords
  readonly identities: Identities
  readonly logins: Pick<Logins, 'confirm'>
  readonly now: () => number
}

export type Passwords = ReturnType<typeof createPasswords>

/**
 * Changes the passwords of users. All methods throw Refusal: unauthorized_action, user_not_exist,
 * invalid_credentials, password_not_complex. `logins` counts wrong old passwords as failed logins; `now` is
 * Unix milliseconds.
 */
export function createPasswords(deps: PasswordsDeps) {
  const { store, hashing, passwords, identities, logins } = deps
  const now = () => new Date(deps.now()).toISOString()

  const targetOf = async ({ userName, oldPassword }: PasswordRequest, caller: Caller): Promise<User> => {
    const user = await findTarget(userName, caller, store.db)
    if (oldPassword !== undefined) await confirmOld(user, oldPassword, caller, logins)
    else if (!mayDoWithout(caller)) refuseWithoutOld()
    return user
  }
  const prepare = (password: string, { name, email, uid }: User) =>
    passwords.prepare(password, [name, email ?? ''], uid)

  const write = async (user: User, type: AuditType, by: Actor, change: (db: Db) => Promise<void>) => {
    const left = await store.transaction((db) => recordChange(db, { user, type, by, at: now() }, change))
    identities.forget(user.uid)
    return { userName: user.name, passwords: left }
  }
  const replace = async (
    db: Db,
    uid: number,
    password: HashedPassword,
    change: { readonly disabled?: false },
  ) => {
    await passwords.replace(db, uid, password)
    await usersStore(db).update(uid, { ...change, failures: noFailures }, now())
    await usersStore(db).raiseEpoch(uid)
  }

  return {
    /** Makes it the only password, unlocks the user and ends the user's tokens. */
    async set(request: PasswordRequest, caller: Caller): Promise<PasswordsLeft> {
      const user = await targetOf(request, caller)
      const hashed = await prepare(request.password, user)
      return write(user, 'password_changed', actorOf(caller), (db) => replace(db, user.uid, hashed, {}))
    },

    /** Adds a password. Tokens stay valid. */
    async add(request: PasswordRequest, caller: Caller): Promise<PasswordsLeft> {
      const user = await targetOf(request, caller)
      const hashed = await prepare(request.password, user)
      return write(user, 'password_added', actorOf(caller), async (db) => {
        const present = await passwordsStore(db).listOf(user.uid)
        if (present.length >= MOST_PASSWORDS) refuseMore()
        await passwordsStore(db).insert(user.uid, hashed, now())
      })
    },

    /** Removes a password and ends the user's tokens. The last password stays. */
    async remove({ userName, password }: PasswordRequest, caller: Caller): Promise<PasswordsLeft> {
      const user = await findTarget(userName, caller, store.db)
      const phc = await confirmOld(user, password, caller, logins)
      return write(user, 'password_removed', actorOf(caller), async (db) => {
        const present = await passwordsStore(db).listOf(user.uid)
        if (present.length < 2) throw new Refusal('cannot_delete_last_password')
        const gone = present.find((one) => one.phc === phc) ?? refuseWrong()
        await passwordsStore(db).remove(gone.id)
        await usersStore(db).raiseEpoch(user.uid)
      })
    },

    /** For the operator of the machine: as `set`, and it also enables a disabled user. */
    async reset(userName: string, password: string, by: Actor): Promise<void> {
      const user = await usersStore(store.db).getByLogin(userName)
      if (user === undefined) throw new Refusal('user_not_exist', `there is no user ${userName}`)
      const hashed = { phc: await hashing.hash(password), sha256: sha256Of(password) }
      await write(user, 'password_changed', by, (db) => replace(db, user.uid, hashed, { disabled: false }))
    },
  }
}

/** Writes a change of a user's passwords with its audit record. Returns how many passwords are left. */
async function recordChange(
  db: Db,
  of: { readonly user: User; readonly type: AuditType; readonly by: Actor; readonly at: string },
  change: (db: Db) => Promise<void>,
): Promise<number> {
  const { user, type, by, at } = of
  await change(db)
  await noteDatabasesOf(db, { userUid: user.uid })
  await auditStore(db).append({ type, by, details: { user: user.uid, name: user.name } }, at)
  return (await passwordsStore(db).listOf(user.uid)).length
}

function refuseMore(): never {
  throw new Refusal('too_many_passwords', `a user has at most ${MOST_PASSWORDS} passwords; remove one first`)
}

function refuseWrong(): never {
  throw new Refusal('invalid_credentials', 'old_password: is not a password of the user')
}

/** Only an admin may change another user's passwords, or learn that the user exists. */
async function findTarget(userName: string | undefined, { user: caller }: Caller, db: Db): Promise<User> {
  const user =
    userName === undefined ? await usersStore(db).get(caller.uid) : await usersStore(db).getByLogin(userName)
  if (user?.uid !== caller.uid && !isAdmin(caller)) {
    throw new Refusal(
      'unauthorized_action',
      'username: only an admin may change the password of another user',
    )
  }
  if (user === undefined) throw new Refusal('user_not_exist', `there is no user ${userName ?? caller.name}`)
  return user
}

/**
 * The hash that `password` fits. A guess like any other: it counts, and is written down. Throws Refusal
 * invalid_credentials.
 */
export function confirmOld(
  user: User,
  password: string,
  caller: Caller,
  logins: Pick<Logins, 'confirm'>,
): Promise<string> {
  return logins.confirm(user, password, { address: caller.address, via: 'old_password' })
}

/** Refuses a caller who must give the old password: see mayDoWithout. */
export function refuseWithoutOld(): never {
  throw new Refusal(
    'invalid_request',
    'old_password: is missing; a token alone changes no password: send the old one, or sign this request with it (Basic)',
  )
}
