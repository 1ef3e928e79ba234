import { expect, test } from 'vitest'
import { createGuessBudgets } from './guess-budgets.ts'

const policy = { threshold: 5, resetAfterSeconds: 900, durationSeconds: 1_800 }

/** A source that guesses as often as it may. */
function open(threshold = 5) {
  let nowMs = 1_000_000
  const budgets = createGuessBudgets(() => nowMs)
  const rules = { ...policy, threshold }
  return {
    pass: (ms: number) => {
      nowMs += ms
    },
    noteWrong: () => budgets.noteWrong('a', rules),
    /** Seconds to wait; 0: it may guess. */
    waitOf(source = 'a') {
      try {
        budgets.admit(source, rules)
        return 0
      } catch (cause) {
        return (cause as { retryAfterSeconds: number }).retryAfterSeconds
      }
    },
  }
}

test('a source has thirty guesses at once, then one each half minute; a policy without a threshold lets it guess', () => {
  const source = open()
  let made = 0
  for (let second = 0; second < 3_600; second += 1, source.pass(1_000)) {
    if (source.waitOf() > 0) continue
    source.noteWrong()
    made += 1
  }
  expect(made).toBeGreaterThanOrEqual(30 + 118)
  expect(made).toBeLessThanOrEqual(30 + 121)
  expect(source.waitOf('b')).toBe(0)
  const free = open(0)
  for (let n = 0; n < 1_000; n += 1) free.noteWrong()
  expect(free.waitOf()).toBe(0)
})

test('after the wait that was announced, the source may guess again, also if the clock was set back', () => {
  const source = open()
  for (let n = 0; n < 30; n += 1) source.noteWrong()
  expect(source.waitOf()).toBe(30)
  source.pass(29_999)
  expect(source.waitOf()).toBe(1)
  source.pass(1)
  expect(source.waitOf()).toBe(0)
  source.pass(-86_400_000)
  expect(source.waitOf()).toBeLessThanOrEqual(930)
})
