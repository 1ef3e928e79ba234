import { Refusal } from '@fairlead/api'
import { auditStore } from '../audit/audit-store.ts'
import { settingsStore } from '../cluster/settings-store.ts'
import type { Visitor } from '../core/access.ts'
import type { AuditEvent } from '../core/audit-record.ts'
import { countFailure, isLocked, noFailures } from '../core/lockout.ts'
import { isExpired } from '../core/password-rules.ts'
import type { Password, User } from '../core/user.ts'
import type { Hashing } from '../passwords/hashing.ts'
import { passwordsStore } from '../passwords/passwords-store.ts'
import type { Db, Store } from '../store/open-store.ts'
import { usersStore } from '../users/users-store.ts'
import type { Identities } from './identities.ts'

export interface Login {
  readonly name: string
  readonly password: string
}

export interface Logins {
  /**
   * The user of this name and password, and the hash that it fitted. Counts and writes down how it went, also what
   * failed.
   *
   * Throws Refusal: invalid_credentials for an unknown user, a wrong password, a locked or a disabled user, the same in
   * words and time; password_expired when only that is wrong, unless `admitsExpired`; too_many_requests.
   */
  check(
    login: Login,
    by: Visitor & { readonly via: string },
    options?: { readonly admitsExpired: boolean },
  ): Promise<{ readonly user: User; readonly phc: string; readonly issuedMs: number }>
}

type Verdict = 'right' | 'expired' | 'unknown' | 'wrong' | 'locked' | 'disabled'

/** Stands for whoever does not exist, so that they are treated like everybody else. */
const nobody: User = {
  uid: 0,
  name: '',
  email: null,
  roleUids: [],
  disabled: false,
  tokenEpoch: 0,
  failures: noFailures,
  lastLoginMs: null,
}

export function createLogins(deps: {
  readonly store: Store
  readonly hashing: Hashing
  readonly identities: Identities
  readonly now: () => number
}): Logins {
  const { store, hashing, identities, now } = deps

  /** Looks again after the derivation: what happened meanwhile counts, so that many tries at once are as good as a few. */
  const conclude = async (
    db: Db,
    login: Login,
    found: { readonly user: User | undefined; readonly fits: Password | undefined },
    by: Visitor & { readonly via: string },
  ): Promise<{ readonly verdict: Verdict; readonly user: User }> => {
    const at = now()
    const users = usersStore(db)
    const user = (await users.get(found.user?.uid ?? nobody.uid)) ?? nobody
    const { lockout, passwordDays } = await settingsStore(db).get()
    const stillFits =
      found.fits !== undefined &&
      (await passwordsStore(db).listOf(user.uid)).some(({ id }) => id === found.fits?.id)
    const verdict = judge(user, {
      fits: stillFits,
      locked: isLocked(user.failures, lockout, at),
      expired: found.fits !== undefined && isExpired(found.fits.issuedMs, passwordDays, at),
    })
    const failures = verdict === 'wrong' ? countFailure(user.failures, lockout, at) : user.failures
    await users.noteLogin(user.uid, {
      failures: verdict === 'right' || verdict === 'expired' ? noFailures : failures,
      lastLoginMs: verdict === 'right' ? at : user.lastLoginMs,
    })
    const locks = verdict === 'wrong' && failures.lockedUntilMs !== null
    for (const event of describe(verdict, locks, user, login, by)) {
      await auditStore(db).append(event, new Date(at).toISOString())
    }
    return { verdict, user }
  }

  return {
    async check(login, by, { admitsExpired } = { admitsExpired: false }) {
      const user = await usersStore(store.db).getByLogin(login.name)
      const passwords = await passwordsStore(store.db).listOf(user?.uid ?? nobody.uid)
      const phc = await hashing.find(
        login.password,
        passwords.map((one) => one.phc),
      )
      const fits = passwords.find((one) => one.phc === phc)
      const outcome = await store.transaction((db) => conclude(db, login, { user, fits }, by))
      identities.forget(outcome.user.uid)
      const admitted = outcome.verdict === 'right' || (outcome.verdict === 'expired' && admitsExpired)
      if (outcome.verdict === 'expired' && !admitted) throw new Refusal('password_expired')
      if (!admitted || fits === undefined) throw new Refusal('invalid_credentials')
      if (!hashing.isCurrent(fits.phc)) await renew(login.password, fits)
      return { user: outcome.user, phc: fits.phc, issuedMs: fits.issuedMs }
    },
  }

  /** The parameters have changed since it was hashed, and now the password is at hand. */
  async function renew(password: string, { id, phc }: Password): Promise<void> {
    await passwordsStore(store.db).rehash(id, await hashing.hash(password, phc))
  }
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
  locks: boolean,
  user: User,
  login: Login,
  { address, via }: Visitor & { readonly via: string },
): readonly AuditEvent[] {
  const by = {
    uid: user === nobody ? null : user.uid,
    name: user === nobody ? login.name : user.name,
    address,
  }
  if (verdict === 'right') return [{ type: 'login_succeeded', by, details: { via } }]
  const failed: AuditEvent = { type: 'login_failed', by, details: { via, why: verdict } }
  return locks ? [failed, { type: 'user_locked', by }] : [failed]
}
