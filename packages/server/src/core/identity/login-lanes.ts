import { countFailure, type Failures, isLocked, type LockoutPolicy, noFailures } from './lockout.ts'

/** Login attempts of one source at one user's account. */
export interface LoginLane {
  /** See sessions/source-of.ts. */
  readonly source: string
  /** True if the user has signed in from there. */
  readonly known: boolean
  readonly failures: Failures
}

/** Facts that decide whether the password of an attempt is checked. */
export interface Tries {
  readonly lane: LoginLane
  /** Failures of all sources from which the user has not signed in, which wait until `lockedUntilMs`. */
  readonly strangers: Failures
}

/** Strangers are slowed down after the wrong passwords that the policy allows this number of sources. */
const SOURCES = 10
const LONGEST_WAIT_MS = 60_000

/** Returns the lane of a source from which the user has neither signed in nor failed. */
export function newLane(source: string): LoginLane {
  return { source, known: false, failures: noFailures }
}

/**
 * Tells whether an attempt is refused whatever its password is: its source has failed too often by the
 * policy, or is a stranger while strangers wait.
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

/** Doubles the wait of strangers with each failure beyond their number, up to a minute. */
function slowDown({ count, lastMs }: Failures, policy: LockoutPolicy, nowMs: number): Failures {
  const isStale = lastMs === null || nowMs - lastMs >= policy.resetAfterSeconds * 1000
  const counted = (isStale ? 0 : count) + 1
  const beyond = counted - SOURCES * policy.threshold
  if (policy.threshold === 0 || beyond < 0) return { count: counted, lastMs: nowMs, lockedUntilMs: null }
  const waitMs = Math.min(LONGEST_WAIT_MS, 1_000 * 2 ** Math.min(beyond, 10))
  return { count: counted, lastMs: nowMs, lockedUntilMs: nowMs + waitMs }
}
