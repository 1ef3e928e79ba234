import { Refusal } from '@fairlead/api'
import { addGuess, type Guesses, noGuesses, waitForGuess } from '../../core/identity/guess-budget.ts'
import type { LockoutPolicy } from '../../core/identity/lockout.ts'

/** How often each source has guessed wrong lately, over all users. */
export interface GuessBudgets {
  /** Throws Refusal too_many_requests when the source has had too many. */
  admit(source: string, policy: LockoutPolicy): void
  /** One that was wrong. Those that were admitted before it was known count afterwards: as many as may wait in line. */
  noteWrong(source: string, policy: LockoutPolicy): void
}

/** About 200 bytes each; the one that guessed longest ago goes first. */
const MOST_SOURCES = 10_000

/** Forgotten at a restart: what counts for one account is in the store. */
export function createGuessBudgets(now: () => number): GuessBudgets {
  const kept = new Map<string, Guesses>()
  return {
    admit(source, policy) {
      const waitMs = waitForGuess(kept.get(source) ?? noGuesses, policy, now())
      if (waitMs === 0) return
      const retryAfterSeconds = Math.ceil(waitMs / 1000)
      throw new Refusal(
        'too_many_requests',
        `too many wrong passwords came from here; try again in ${retryAfterSeconds} s`,
        { retryAfterSeconds },
      )
    },
    noteWrong(source, policy) {
      const guesses = kept.get(source) ?? noGuesses
      kept.delete(source)
      const [oldest] = kept.keys()
      if (oldest !== undefined && kept.size >= MOST_SOURCES) kept.delete(oldest)
      kept.set(source, addGuess(guesses, policy, now()))
    },
  }
}
