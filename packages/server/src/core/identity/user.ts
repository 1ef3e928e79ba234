import type { Management } from '@fairlead/api'
import { type Failures, type LockoutPolicy, noFailures } from './lockout.ts'
import { isExpired } from './password-rules.ts'

/** A user, as stored. */
export interface User {
  readonly uid: number
  readonly name: string
  readonly email: string | null
  readonly roleUids: readonly number[]
  readonly disabled: boolean
  /** Tokens with an older epoch are invalid. */
  readonly tokenEpoch: number
  /** Wrong passwords from sources without a login of the user. */
  readonly failures: Failures
  readonly lastLoginMs: number | null
  readonly alerts: Alerts
}

/** Alerts that a user wants by e-mail. Stored for programs that set it: no alerts are sent yet. */
export interface Alerts {
  readonly email: boolean
  readonly cluster: boolean
  /** Uids of databases, as sent. */
  readonly databases: readonly string[]
}

/** Alerts of a user without settings. */
export const usualAlerts: Alerts = { email: true, cluster: true, databases: [] }

/** Stands for a user that does not exist, so that the work and the answer are the same as for others. */
export const nobody: User = {
  uid: 0,
  name: '',
  email: null,
  roleUids: [],
  disabled: false,
  tokenEpoch: 0,
  failures: noFailures,
  lastLoginMs: null,
  alerts: usualAlerts,
}

/** A password of a user. A user may have several, to change them without a gap. */
export interface Password {
  readonly id: number
  /** PHC string. One user's passwords share their salt, so that one derivation tests all. */
  readonly phc: string
  readonly issuedMs: number
  /** SHA-256 in hex, with which its user signs in to databases; null: known after the next login. */
  readonly sha256: string | null
}

/** A new password, as it is stored. */
export type HashedPassword = Pick<Password, 'phc'> & { readonly sha256: string }

/** A role of users. */
export interface Role {
  readonly uid: number
  readonly name: string
  readonly management: Management
  /** Databases that the role is limited to; empty: all. */
  readonly databases: readonly number[]
}

/** Roles 1 to 7 always exist and cannot be changed. */
export const LAST_BUILT_IN_ROLE = 7

/** If a user can sign in now, or why not. */
export type UserStatus = 'active' | 'locked' | 'password_expired' | 'disabled'

/** `lockedUntilMs`: end of the lock of a source; other sources may sign in. */
export function statusOf(
  { disabled }: Pick<User, 'disabled'>,
  seen: { readonly newestPasswordMs: number; readonly lockedUntilMs: number },
  rules: { readonly lockout: LockoutPolicy; readonly passwordDays: number },
  nowMs: number,
): UserStatus {
  if (disabled) return 'disabled'
  if (rules.lockout.threshold > 0 && nowMs < seen.lockedUntilMs) return 'locked'
  return isExpired(seen.newestPasswordMs, rules.passwordDays, nowMs) ? 'password_expired' : 'active'
}

/** Returns a login name for comparisons: letter case and look-alike forms make no other user. */
export function loginOf(name: string): string {
  return name.normalize('NFKC').toLowerCase()
}

/** Names in the audit that do not belong to a user. */
const reserved = ['operator', 'fairlead', 'default']

/**
 * Returns the fault of a new name or e-mail of a user, or undefined. In logs a name must not look like
 * another one, so it has no invisible characters, and letters of only one script.
 */
export function nameFault(name: string): string | undefined {
  if (/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(name)) {
    return 'has an invisible character'
  }
  if (reserved.includes(loginOf(name))) return 'is kept for Fairlead itself'
  if (name.startsWith('(')) return 'begins with a bracket, as what the log says of unknown users does'
  const letters = [...name.normalize('NFKC')].filter((letter) => /\p{L}/u.test(letter))
  if (!scripts.some((script) => letters.every((letter) => script.test(letter)))) {
    return 'has letters of different scripts, which look alike'
  }
  const foreign = letters.some((letter) => /[\p{sc=Cyrillic}\p{sc=Greek}]/u.test(letter))
  if (foreign && letters.every((letter) => latinLooks.includes(letter))) {
    return 'has only letters that look like others of the Latin script'
  }
  return undefined
}

/** Japanese and Korean are written in several scripts. */
const scripts = [
  /[\p{sc=Latin}]/u,
  /[\p{sc=Cyrillic}]/u,
  /[\p{sc=Greek}]/u,
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Common}]/u,
  /[\p{sc=Hangul}\p{sc=Han}]/u,
  /[^\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u,
]
/** Cyrillic and Greek letters. */
const latinLooks = 'асеорхуіјѕԁһԛԝАВСЕНІЈКМОРЅТХУοανυικρτΑΒΕΖΗΙΚΜΝΟΡΤΥΧ'
