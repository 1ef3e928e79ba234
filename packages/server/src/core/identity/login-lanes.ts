import { countFailure, type Failures, isLocked, type LockoutPolicy, noFailures } from './lockout.ts'

/** Login attempts of one source at one user's account. */
export interface LoginLane {
  /** Source of the attempts: see sessions/sources.ts. */
  readonly source: string
  /** True if the user has signed in from there. */
  readonly known: boolean
  readonly failures: Failures
}

/** Decides if an attempt's password is checked: its source's lane, and the strangers' failures together. */
export interface Tries {
  readonly lane: LoginLane
  /** Failures of all sources without a login of the user. `lockedUntilMs`: end of their wait. */
  readonly strangers: Failures
}

/** Number of sources that may use up the policy's wrong passwords before all strangers are slowed down. */
const SOURCES = 10
const LONGEST_WAIT_MS = 60_000

/** Creates the lane of a new source. */
export function newLane(source: string): LoginLane {
  return { source, known: false, failures: noFailures }
}

/**
 * True if an attempt is refused without a password check. A source that has failed too often is locked out of
 * this account; the lock holds for the source, not for the user. If many sources fail, strangers wait, known
 * sources do not.
 */
export function isShut({ lane, strangers }: Tries, policy: LockoutPolicy, nowMs: number): boolean {
  if (isLocked(lane.failures, policy, nowMs)) return true
  return !lane.known && isLocked(strangers, policy, nowMs)
}

/** Counts a wrong password. */
export function countWrong({ lane, strangers }: Tries, policy: LockoutPolicy, nowMs: number): Tries {
  return {
    lane: { ...lane, failures: countFailure(lane.failures, policy, nowMs) },
    strangers: lane.known ? strangers : slowDown(strangers, policy, nowMs),
  }
}

/** Counts a right password: resets its source's count only. */
export function countRight({ lane, strangers }: Tries): Tries {
  return { lane: { ...lane, known: true, failures: noFailures }, strangers }
}

/** Beyond the limit, each further failure of strangers doubles the wait of all of them, up to a minute. */
function slowDown({ count, lastMs }: Failures, policy: LockoutPolicy, nowMs: number): Failures {
  const isStale = lastMs === null || nowMs - lastMs >= policy.resetAfterSeconds * 1000
  const counted = (isStale ? 0 : count) + 1
  const beyond = counted - SOURCES * policy.threshold
  if (policy.threshold === 0 || beyond < 0) return { count: counted, lastMs: nowMs, lockedUntilMs: null }
  const waitMs = Math.min(LONGEST_WAIT_MS, 1_000 * 2 ** Math.min(beyond, 10))
  return { count: counted, lastMs: nowMs, lockedUntilMs: nowMs + waitMs }
}
