import { Refusal } from '@fairlead/api'
import type { Requester } from '../../core/identity/access.ts'
import type { AuditEvent } from '../../core/identity/audit-record.ts'
import { countRight, countWrong, isShut, newLane, type Tries } from '../../core/identity/login-lanes.ts'
import { isExpired } from '../../core/identity/password-rules.ts'
import { nobody, type Password, type User } from '../../core/identity/user.ts'
import type { Db, Store } from '../../store/open-store.ts'
import type { AuditCounter } from '../audit/audit-counter.ts'
import { type Hashing, sha256Of } from '../hashing/hashing.ts'
import { noteDatabasesOf } from '../stores/acls-store.ts'
import { loginLanesStore } from '../stores/login-lanes-store.ts'
import { passwordsStore } from '../stores/passwords-store.ts'
import { settingsStore } from '../stores/settings-store.ts'
import { usersStore } from '../stores/users-store.ts'
import { createGuessBudgets } from './guess-budgets.ts'
import type { Identities } from './identities.ts'
import { sourceOf } from './source-of.ts'

/** What a person types to sign in: a name or an e-mail address, and the password in the clear. */
export interface Login {
  readonly name: string
  readonly password: string
}

export type LoginBy = Requester & { readonly via: string }

type Verdict = 'right' | 'expired' | 'unknown' | 'wrong' | 'locked' | 'disabled'

/**
 * The name in the log for users that do not exist: the text that was sent as a name may be anything. No user
 * can have this name.
 */
const UNKNOWN = '(unknown)'

/** One attempt: what was read before it is judged. */
interface Try {
  readonly name: string
  readonly by: LoginBy
  readonly source: string
  /** Undefined: no user has that name. */
  readonly userUid: number | undefined
  readonly fits: Password | undefined
  /** By a user who is signed in already: the right password is then no login. */
  readonly confirms: boolean
}

export type Logins = ReturnType<typeof createLogins>

/**
 * Checks passwords, counts failures by source, and locks a source out. `counter` records failures in the
 * audit; `now` is Unix milliseconds.
 */
export function createLogins(deps: {
  readonly store: Store
  readonly hashing: Hashing
  readonly identities: Identities
  readonly counter: AuditCounter
  readonly now: () => number
  /** Told of each password that was tried. */
  readonly onJudged?: (verdict: Verdict) => void
}) {
  const { store, hashing, identities, counter, now } = deps
  const budgets = createGuessBudgets(now)

  /** Looks for the password, and judges. Says which one it was, if it is to be let in. */
  const attempt = async (
    userUid: number | undefined,
    { name, password }: Login,
    by: LoginBy,
    confirms: boolean,
  ): Promise<{ readonly verdict: Verdict; readonly user: User; readonly fits: Password | undefined }> => {
    const source = sourceOf(by.address)
    const uid = userUid ?? nobody.uid
    const passwords = await passwordsStore(store.db).listOf(uid)
    const known = (await loginLanesStore(store.db).get(uid, source))?.known ?? false
    const { lockout } = await settingsStore(store.db).get()
    if (!known) budgets.admit(source, lockout)
    const phcs = passwords.map(({ phc }) => phc)
    const phc = await hashing.find(password, phcs)
    const fits = passwords.find((one) => one.phc === phc)
    if (!known && fits === undefined) budgets.noteWrong(source, lockout)
    const outcome = await counter.transaction(async (db, note) => {
      const concluded = await conclude(db, { name, by, source, userUid, fits, confirms }, now())
      for (const event of concluded.events) await note(event)
      return concluded
    })
    identities.forget(outcome.user.uid)
    deps.onJudged?.(outcome.verdict)
    return { ...outcome, fits }
  }

  /** The parameters have changed since it was hashed, and now the password is known. */
  const renew = async (password: string, { id, phc }: Password): Promise<void> => {
    await passwordsStore(store.db).rehash(id, await hashing.hash(password, phc))
  }

  /** It was set by a Fairlead that had no users of databases. */
  const learn = (password: string, userUid: number, { id }: Password) =>
    store.transaction(async (db) => {
      await passwordsStore(db).learn(id, sha256Of(password))
      await noteDatabasesOf(db, { userUid })
    })

  return {
    /**
     * The user of this name and password, and the hash that it fitted. Counts and writes down how it went,
     * also what failed.  Throws Refusal: invalid_credentials for an unknown user, a wrong password, a source
     * that is locked out and a disabled user, the same in words and time; password_expired when only that is
     * wrong, unless `admitsExpired`; too_many_requests.
     */
    async check(
      login: Login,
      by: LoginBy,
      { admitsExpired }: { readonly admitsExpired: boolean } = { admitsExpired: false },
    ): Promise<{ readonly user: User; readonly phc: string; readonly issuedMs: number }> {
      const named = await usersStore(store.db).uidOfLogin(login.name)
      const { verdict, user, fits } = await attempt(named, login, by, false)
      const admitted = verdict === 'right' || (verdict === 'expired' && admitsExpired)
      if (verdict === 'expired' && !admitted) throw new Refusal('password_expired')
      if (!admitted || fits === undefined) throw new Refusal('invalid_credentials')
      if (!hashing.isCurrent(fits.phc)) await renew(login.password, fits)
      if (fits.sha256 === null) await learn(login.password, user.uid, fits)
      return { user, phc: fits.phc, issuedMs: fits.issuedMs }
    },

    /**
     * Confirms a password that a signed-in user gives for `user`: the hash that it fits. Counted as a login
     * is, and written down when it is wrong. Throws Refusal invalid_credentials, too_many_requests.
     */
    async confirm(user: User, password: string, by: LoginBy): Promise<string> {
      const { verdict, fits } = await attempt(user.uid, { name: user.name, password }, by, true)
      if (fits !== undefined && (verdict === 'right' || verdict === 'expired')) return fits.phc
      throw new Refusal('invalid_credentials', 'old_password: is not a password of the user')
    },
  }
}

/**
 * Looks again after the derivation: changes in the meantime count, so that many attempts at once gain
 * nothing.
 */
async function conclude(
  db: Db,
  { name, by, source, userUid, fits, confirms }: Try,
  at: number,
): Promise<{ readonly verdict: Verdict; readonly user: User; readonly events: readonly AuditEvent[] }> {
  const users = usersStore(db)
  const lanes = loginLanesStore(db)
  const user = (await users.get(userUid ?? nobody.uid)) ?? nobody
  const { lockout, passwordDays } = await settingsStore(db).get()
  const before: Tries = {
    lane: (await lanes.get(user.uid, source)) ?? newLane(source),
    strangers: user.failures,
  }
  const stillFits =
    fits !== undefined && (await passwordsStore(db).listOf(user.uid)).some(({ id }) => id === fits.id)
  const verdict = judge(user, {
    fits: stillFits,
    locked: isShut(before, lockout, at),
    expired: fits !== undefined && isExpired(fits.issuedMs, passwordDays, at),
  })
  const isRight = verdict === 'right' || verdict === 'expired'
  const isWrong = verdict === 'wrong' || verdict === 'unknown'
  const after = isRight ? countRight(before) : isWrong ? countWrong(before, lockout, at) : before
  await users.noteLogin(user.uid, {
    failures: after.strangers,
    lastLoginMs: verdict === 'right' && !confirms ? at : user.lastLoginMs,
  })
  await lanes.put(user.uid, after.lane, new Date(at).toISOString())
  // A right password from a known source adds no lane. What failed costs the same, whether the user exists or
  // not.
  if (!isRight || !before.lane.known) await lanes.dropSurplus(user.uid, after.lane)
  const locks = verdict === 'wrong' && after.lane.failures.lockedUntilMs !== null
  const isSilent = isRight && confirms
  const events = isSilent ? [] : describe(verdict, { locks, source }, user, name, by)
  return { verdict, user, events }
}

function judge(
  user: User,
  seen: { readonly fits: boolean; readonly locked: boolean; readonly expired: boolean },
): Verdict {
  if (user === nobody) return 'unknown'
  if (user.disabled) return 'disabled'
  if (seen.locked) return 'locked'
  if (!seen.fits) return 'wrong'
  return seen.expired ? 'expired' : 'right'
}

function describe(
  verdict: Verdict,
  { locks, source }: { readonly locks: boolean; readonly source: string },
  user: User,
  name: string,
  { address, via }: LoginBy,
): readonly AuditEvent[] {
  const by = {
    uid: user === nobody ? null : user.uid,
    name: user === nobody ? UNKNOWN : user.name,
    address,
  }
  const from = {
    ...(source !== address && { from: source }),
    ...(user === nobody && { name: printable(name) }),
  }
  if (verdict === 'right') return [{ type: 'login_succeeded', by, details: { via, ...from } }]
  const failed: AuditEvent = { type: 'login_failed', by, details: { via, why: verdict, ...from } }
  return locks ? [failed, { type: 'user_locked', by, details: from }] : [failed]
}

/** Invisible characters are written as escapes. */
function printable(text: string): string {
  return text.replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (sign) => `<U+${sign.codePointAt(0)?.toString(16).toUpperCase()}>`,
  )
}
