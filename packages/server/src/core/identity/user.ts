import type { Management } from '@fairlead/api'
import type { Failures, LockoutPolicy } from './lockout.ts'
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

/** A password of a user. A user may have several, to change them without a gap. */
export interface Password {
  readonly id: number
  /** PHC string. One user's passwords share their salt, so that one derivation tests all. */
  readonly phc: string
  readonly issuedMs: number
}

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
