/** Wrong passwords of one user. */
export interface Failures {
  /** Number in a row; the last one at `lastMs`. */
  readonly count: number
  readonly lastMs: number | null
  /** Unix ms; null: not locked. */
  readonly lockedUntilMs: number | null
}

/** When wrong passwords lock a user, and for how long. */
export interface LockoutPolicy {
  /** Wrong passwords that lock a user; 0: never. */
  readonly threshold: number
  readonly resetAfterSeconds: number
  /** 0: until an admin sets a new password. */
  readonly durationSeconds: number
}

/** Failures of a user who has just signed in, or never tried. */
export const noFailures: Failures = { count: 0, lastMs: null, lockedUntilMs: null }

/** 9999-12-31: until a person ends the lock. */
const FOR_EVER_MS = 253_402_300_799_999

/** True if these failures lock at `nowMs` (Unix ms); never with threshold 0. */
export function isLocked({ lockedUntilMs }: Failures, { threshold }: LockoutPolicy, nowMs: number): boolean {
  return threshold > 0 && lockedUntilMs !== null && nowMs < lockedUntilMs
}

/** Counts a wrong password. An ended lock, and failures of long ago, no longer count. */
export function countFailure(failures: Failures, policy: LockoutPolicy, nowMs: number): Failures {
  const { count, lastMs, lockedUntilMs } = failures
  const isStale = lastMs === null || nowMs - lastMs >= policy.resetAfterSeconds * 1000
  const counted = (isStale || lockedUntilMs !== null ? 0 : count) + 1
  if (policy.threshold === 0 || counted < policy.threshold) {
    return { count: counted, lastMs: nowMs, lockedUntilMs: null }
  }
  const lockedUntil = policy.durationSeconds === 0 ? FOR_EVER_MS : nowMs + policy.durationSeconds * 1000
  return { count: counted, lastMs: nowMs, lockedUntilMs: lockedUntil }
}
