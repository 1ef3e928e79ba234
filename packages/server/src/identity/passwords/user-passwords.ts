import { Refusal } from '@fairlead/api'
import { passwordFaults } from '../../core/identity/password-rules.ts'
import type { HashedPassword } from '../../core/identity/user.ts'
import type { Db, Store } from '../../store/open-store.ts'
import { type Hashing, sha256Of } from '../hashing/hashing.ts'
import { loginLanesStore } from '../stores/login-lanes-store.ts'
import { passwordsStore } from '../stores/passwords-store.ts'
import { settingsStore } from '../stores/settings-store.ts'

export type UserPasswords = ReturnType<typeof createUserPasswords>

/**
 * Applies the cluster's password rules to new passwords: of new users, and of users who change theirs. Reads
 * the rules from `store` at each call; `now` is Unix milliseconds.
 */
export function createUserPasswords(deps: {
  readonly store: Store
  readonly hashing: Hashing
  readonly now: () => number
}) {
  const { store, hashing, now } = deps
  return {
    /**
     * Checks and hashes a new password of a user with these names, before a transaction: it takes long. The
     * password must differ from the present ones of `userUid`.  Throws Refusal password_not_complex, with
     * every fault; new_password_same_as_current; too_many_requests.
     */
    async prepare(password: string, names: readonly string[], userUid?: number): Promise<HashedPassword> {
      const { passwordRules } = await settingsStore(store.db).get()
      const faults = passwordFaults(password, passwordRules, names)
      if (faults.length > 0) throw new Refusal('password_not_complex', `the password ${faults.join('; it ')}`)
      const sha256 = sha256Of(password)
      if (userUid === undefined) return { phc: await hashing.hash(password), sha256 }

      const present = (await passwordsStore(store.db).listOf(userUid)).map(({ phc }) => phc)
      if ((await hashing.find(password, present)) !== undefined)
        throw new Refusal('new_password_same_as_current')
      return { phc: await hashing.hash(password, present[0]), sha256 }
    },
    /** Makes it the user's only password, and lets every source try again. */
    async replace(db: Db, userUid: number, password: HashedPassword): Promise<void> {
      const passwords = passwordsStore(db)
      await passwords.removeAllOf(userUid)
      await passwords.insert(userUid, password, new Date(now()).toISOString())
      await loginLanesStore(db).clearFailures(userUid)
    },
  }
}
