import { countFailure, type Failures, isLocked, type LockoutPolicy, noFailures } from './lockout.ts'

/** The login attempts of one source at one user's account. */
export interface LoginLane {
  /** The source of the attempts: see sessions/sources.ts. */
  readonly source: string
  /** Whether the user has signed in from there. */
  readonly known: boolean
  readonly failures: Failures
}

/** Everything that decides whether the password of an attempt is checked: the lane of its source, and the failures of all strangers together. */
export interface Tries {
  readonly lane: LoginLane
  /** The failures of all sources from which the user has not signed in. `lockedUntilMs`: strangers wait until then. */
  readonly strangers: Failures
}

/** So many sources may use up the wrong passwords that the policy allows one source; then all strangers are slowed down. */
const SOURCES = 10
const LONGEST_WAIT_MS = 60_000

/** The lane of a source from which the user has neither signed in nor failed. */
export function newLane(source: string): LoginLane {
  return { source, known: false, failures: noFailures }
}

/**
 * Whether an attempt is refused without a check of its password. A source that has failed too often is locked out of this account, by the policy; a
 * lock holds for the source, not for the user. Where many sources fail, strangers wait; known sources do not.
 */
export function isShut({ lane, strangers }: Tries, policy: LockoutPolicy, nowMs: number): boolean {
  if (isLocked(lane.failures, policy, nowMs)) return true
  return !lane.known && isLocked(strangers, policy, nowMs)
}

/** Counts one more wrong password. */
export function countWrong({ lane, strangers }: Tries, policy: LockoutPolicy, nowMs: number): Tries {
  return {
    lane: { ...lane, failures: countFailure(lane.failures, policy, nowMs) },
    strangers: lane.known ? strangers : slowDown(strangers, policy, nowMs),
  }
}

/** Counts a right password: it resets the count of its source, and does not change the counts of others. */
export function countRight({ lane, strangers }: Tries): Tries {
  return { lane: { ...lane, known: true, failures: noFailures }, strangers }
}

/** After so many failures of strangers, each further one makes all of them wait twice as long, up to a minute. */
function slowDown({ count, lastMs }: Failures, policy: LockoutPolicy, nowMs: number): Failures {
  const isStale = lastMs === null || nowMs - lastMs >= policy.resetAfterSeconds * 1000
  const counted = (isStale ? 0 : count) + 1
  const beyond = counted - SOURCES * policy.threshold
  if (policy.threshold === 0 || beyond < 0) return { count: counted, lastMs: nowMs, lockedUntilMs: null }
  const waitMs = Math.min(LONGEST_WAIT_MS, 1_000 * 2 ** Math.min(beyond, 10))
  return { count: counted, lastMs: nowMs, lockedUntilMs: nowMs + waitMs }
}
