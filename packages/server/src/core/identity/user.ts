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
  /** Tokens that were issued under an older epoch are invalid. */
  readonly tokenEpoch: number
  /** Wrong passwords from all sources from which the user has never signed in. */
  readonly failures: Failures
  readonly lastLoginMs: number | null
  readonly alerts: Alerts
}

/** Which alerts a user wants by e-mail. Kept for programs that set it: no alerts are sent yet. */
export interface Alerts {
  readonly email: boolean
  readonly cluster: boolean
  /** Uids of databases, as they were sent. */
  readonly databases: readonly string[]
}

/** Of a user without settings of its own. */
export const usualAlerts: Alerts = { email: true, cluster: true, databases: [] }

/** A password of a user. A user may have several, to change them without a gap. */
export interface Password {
  readonly id: number
  /** PHC string. The passwords of one user share their salt, so that one derivation tries them all. */
  readonly phc: string
  readonly issuedMs: number
}

/** A role of users. */
export interface Role {
  readonly uid: number
  readonly name: string
  readonly management: Management
  /** The databases that the role is limited to; empty: all. */
  readonly databases: readonly number[]
}

/** Roles 1 to 7 exist from the start and cannot be changed. */
export const LAST_BUILT_IN_ROLE = 7

/** Whether a user can sign in now, and why not. */
export type UserStatus = 'active' | 'locked' | 'password_expired' | 'disabled'

/** `lockedUntilMs`: until when a source is locked out of the account; others may sign in. */
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

/** The form in which login names are compared: letter case and look-alike forms of a letter do not make another user. */
export function loginOf(name: string): string {
  return name.normalize('NFKC').toLowerCase()
}
