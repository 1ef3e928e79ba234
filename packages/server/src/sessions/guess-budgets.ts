import { Refusal } from '@fairlead/api'
import { addGuess, type Guesses, noGuesses, waitForGuess } from '../core/guess-budget.ts'
import type { LockoutPolicy } from '../core/lockout.ts'

/** How often each source has guessed wrong lately, over all users. */
export interface GuessBudgets {
  /** Counts one, before it is known to be wrong. Throws Refusal too_many_requests when the source has had too many. */
  spend(source: string, policy: LockoutPolicy): void
  /** It was right. */
  giveBack(source: string): void
}

/** About 200 bytes each; the one that guessed longest ago goes first. */
const MOST_SOURCES = 10_000

/** Forgotten at a restart: what counts for one account is in the store. */
export function createGuessBudgets(now: () => number): GuessBudgets {
  const kept = new Map<string, Guesses>()
  const keep = (source: string, guesses: Guesses) => {
    kept.delete(source)
    const [oldest] = kept.keys()
    if (oldest !== undefined && kept.size >= MOST_SOURCES) kept.delete(oldest)
    if (guesses.level > 0) kept.set(source, guesses)
  }
  return {
    spend(source, policy) {
      const guesses = kept.get(source) ?? noGuesses
      const waitMs = waitForGuess(guesses, policy, now())
      if (waitMs > 0) {
        const retryAfterSeconds = Math.ceil(waitMs / 1000)
        throw new Refusal(
          'too_many_requests',
          `too many wrong passwords came from here; try again in ${retryAfterSeconds} s`,
          { retryAfterSeconds },
        )
      }
      keep(source, addGuess(guesses, policy, now()))
    },
    giveBack(source) {
      const guesses = kept.get(source)
      if (guesses !== undefined) keep(source, { ...guesses, level: Math.max(0, guesses.level - 1) })
    },
  }
}
