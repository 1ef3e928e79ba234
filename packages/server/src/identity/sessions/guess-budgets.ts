import { Refusal } from '@fairlead/api'
import type { LockoutPolicy } from '../../core/identity/lockout.ts'

/** A bucket has room for the wrong passwords that the policy allows at this number of users. */
const USERS = 6
/** Maximum content, in buckets. Bounds the wait also if the clock was set back. */
const MOST_BUCKETS = 2
/** About 200 bytes each. When there are more, the source that guessed longest ago is forgotten. */
const MOST_SOURCES = 10_000

/**
 * Bounds the wrong passwords of each source over all users: a leaky bucket. Counts in memory, as locks of
 * users are in the store; `now` is Unix milliseconds.
 */
export function createGuessBudgets(now: () => number) {
  /** Time at which the bucket of a source is empty, Unix milliseconds. */
  const emptyAt = new Map<string, number>()
  const contentMs = (source: string, { resetAfterSeconds }: LockoutPolicy) => {
    const restMs = (emptyAt.get(source) ?? 0) - now()
    return Math.min(Math.max(0, restMs), MOST_BUCKETS * resetAfterSeconds * 1000)
  }
  return {
    /** Throws Refusal too_many_requests if the bucket of this source is full. */
    admit(source: string, policy: LockoutPolicy): void {
      if (policy.threshold === 0) return
      const waitMs = contentMs(source, policy) + eachMs(policy) - policy.resetAfterSeconds * 1000
      if (waitMs <= 0) return
      const retryAfterSeconds = Math.ceil(waitMs / 1000)
      throw new Refusal(
        'too_many_requests',
        `too many wrong passwords came from here; try again in ${retryAfterSeconds} s`,
        { retryAfterSeconds },
      )
    },
    /** Counts a wrong password. A source may overfill its bucket with requests that are in progress. */
    noteWrong(source: string, policy: LockoutPolicy): void {
      const filledMs = contentMs(source, policy) + eachMs(policy)
      emptyAt.delete(source)
      const [oldest] = emptyAt.keys()
      if (oldest !== undefined && emptyAt.size >= MOST_SOURCES) emptyAt.delete(oldest)
      emptyAt.set(source, now() + filledMs)
    },
  }
}

/**
 * Returns the time in which one wrong password leaks out: a full bucket is empty after `resetAfterSeconds`.
 */
function eachMs({ threshold, resetAfterSeconds }: LockoutPolicy): number {
  return (resetAfterSeconds * 1000) / (USERS * Math.max(1, threshold))
}
