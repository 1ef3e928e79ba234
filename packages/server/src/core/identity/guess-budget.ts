import type { LockoutPolicy } from './lockout.ts'

/** Wrong passwords of one source, over all users, as a leaky bucket. */
export interface Guesses {
  readonly level: number
  readonly atMs: number
}

/** A source may fail at so many users' accounts as often as the policy allows at one. */
const USERS = 6

/** The budget of a source that has not guessed yet. */
export const noGuesses: Guesses = { level: 0, atMs: 0 }

/** Counts one more wrong password. */
export function addGuess(guesses: Guesses, policy: LockoutPolicy, nowMs: number): Guesses {
  return { level: levelAt(guesses, policy, nowMs) + 1, atMs: nowMs }
}

/** Milliseconds until this source may guess again; 0: now. Always 0 under a policy without a threshold. */
export function waitForGuess(guesses: Guesses, policy: LockoutPolicy, nowMs: number): number {
  if (policy.threshold === 0) return 0
  const over = levelAt(guesses, policy, nowMs) + 1 - USERS * policy.threshold
  return over <= 0 ? 0 : Math.ceil(over * msEach(policy))
}

function levelAt({ level, atMs }: Guesses, policy: LockoutPolicy, nowMs: number): number {
  return Math.max(0, level - Math.max(0, nowMs - atMs) / msEach(policy))
}

/** A full bucket is empty after the time in which the policy starts to count again. */
function msEach({ threshold, resetAfterSeconds }: LockoutPolicy): number {
  return (resetAfterSeconds * 1000) / (USERS * Math.max(1, threshold))
}
