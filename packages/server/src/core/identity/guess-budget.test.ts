import { expect, test } from 'vitest'
import { addGuess, noGuesses, waitForGuess } from './guess-budget.ts'

const policy = { threshold: 5, resetAfterSeconds: 900, durationSeconds: 1_800 }

test('a source has thirty guesses at once, then one each half minute; a policy without a threshold lets it guess', () => {
  let guesses = noGuesses
  let made = 0
  for (let nowMs = 0; nowMs < 3_600_000; nowMs += 1_000) {
    if (waitForGuess(guesses, policy, nowMs) > 0) continue
    guesses = addGuess(guesses, policy, nowMs)
    made += 1
  }
  expect(made).toBeGreaterThanOrEqual(30 + 118)
  expect(made).toBeLessThanOrEqual(30 + 121)
  expect(waitForGuess({ level: 1_000, atMs: 0 }, { ...policy, threshold: 0 }, 0)).toBe(0)
})

test('after the wait that was announced, the source may guess again', () => {
  const full = { level: 30, atMs: 0 }
  const waitMs = waitForGuess(full, policy, 0)
  expect(waitMs).toBe(30_000)
  expect([waitForGuess(full, policy, waitMs - 1) > 0, waitForGuess(full, policy, waitMs)]).toEqual([true, 0])
})
