import type { LockoutPolicy } from './lockout.ts'
import type { PasswordRules } from './password-rules.ts'

/** Settings of the whole cluster, which can be changed while it runs. */
export interface Settings {
  readonly name: string
  /** ISO 8601; null until the cluster has been created. */
  readonly createdAt: string | null
  readonly passwordRules: PasswordRules
  /** Days from the last change of a password until it expires; 0: never. */
  readonly passwordDays: number
  /** Whether requests may carry a password in place of a token. */
  readonly basicAllowed: boolean
  readonly lockout: LockoutPolicy
  /** The largest module package that may be uploaded, in MB. */
  readonly moduleUploadMb: number
  /** Whether new databases may run engines with known holes through which clients run code in them. */
  readonly unsoundEnginesAllowed: boolean
}

/** The defaults of the REST API that people know: passwords of 8 characters, 5 failed logins in 15 minutes lock for 30. */
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
