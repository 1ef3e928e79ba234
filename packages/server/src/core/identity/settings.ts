import type { LockoutPolicy } from './lockout.ts'
import type { PasswordRules } from './password-rules.ts'

/** Settings of the whole cluster, changeable while it runs. */
export interface Settings {
  readonly name: string
  /** ISO 8601; null before the cluster is created. */
  readonly createdAt: string | null
  readonly passwordRules: PasswordRules
  /** Days until a password expires; 0: never. */
  readonly passwordDays: number
  /** True if requests may carry a password instead of a token. */
  readonly basicAllowed: boolean
  readonly lockout: LockoutPolicy
  /** Limit of an uploaded module package, in MB. */
  readonly moduleUploadMb: number
  /** True if new databases may run engines with known holes through which clients run code. */
  readonly unsoundEnginesAllowed: boolean
}

/** Defaults of the familiar REST API: passwords of 8 characters; 5 failures in 15 minutes lock for 30. */
export const defaultSettings: Settings = {
  name: 'fairlead',
  createdAt: null,
  passwordRules: { minLength: 8, complexity: false },
  passwordDays: 0,
  basicAllowed: true,
  lockout: { threshold: 5, resetAfterSeconds: 900, durationSeconds: 1_800 },
  moduleUploadMb: 40,
  unsoundEnginesAllowed: false,
}
