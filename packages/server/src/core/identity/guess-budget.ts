import type { LockoutPolicy } from './lockout.ts'

/** Wrong passwords of one source, over all users, as a leaky bucket. */
export interface Guesses {
  readonly level: number
  readonly atMs: number
}

/** Number of users at whose accounts a source may fail as often as the policy allows at one. */
const USERS = 6

/** Budget of a new source. */
export const noGuesses: Guesses = { level: 0, atMs: 0 }

/** Counts a wrong password. */
export function addGuess(guesses: Guesses, policy: LockoutPolicy, nowMs: number): Guesses {
  return { level: levelAt(guesses, policy, nowMs) + 1, atMs: nowMs }
}

/** Returns the ms until this source may guess again; 0: now. Always 0 without a threshold. */
export function waitForGuess(guesses: Guesses, policy: LockoutPolicy, nowMs: number): number {
  if (policy.threshold === 0) return 0
  const over = levelAt(guesses, policy, nowMs) + 1 - USERS * policy.threshold
  return over <= 0 ? 0 : Math.ceil(over * msEach(policy))
}

function levelAt({ level, atMs }: Guesses, policy: LockoutPolicy, nowMs: number): number {
  return Math.max(0, level - Math.max(0, nowMs - atMs) / msEach(policy))
}

/** A full bucket is empty after the policy's reset time. */
function msEach({ threshold, resetAfterSeconds }: LockoutPolicy): number {
  return (resetAfterSeconds * 1000) / (USERS * Math.max(1, threshold))
}
