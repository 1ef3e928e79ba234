import { expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { countFailure, type Failures, isLocked, noFailures } from './lockout.ts'

const policy = { threshold: 5, resetAfterSeconds: 900, durationSeconds: 1_800 }

test('five wrong passwords, none a quarter of an hour after the one before, lock; fewer do not', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 1_200 }), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(gaps, (seconds) => {
      let failures: Failures = noFailures
      let nowMs = 1_000_000
      let inARow = 0
      for (const gap of seconds) {
        nowMs += gap * 1000
        if (isLocked(failures, policy, nowMs)) return
        inARow = gap >= policy.resetAfterSeconds ? 1 : inARow + 1
        failures = countFailure(failures, policy, nowMs)
        expect(isLocked(failures, policy, nowMs)).toBe(inARow >= 5)
      }
    }),
  )
})

test('a lock ends at the exact millisecond, and the count starts again', () => {
  const locked = { count: 5, lastMs: 1_000, lockedUntilMs: 2_000 }
  expect([isLocked(locked, policy, 1_999), isLocked(locked, policy, 2_000)]).toEqual([true, false])
  expect(countFailure(locked, policy, 2_000)).toEqual({ count: 1, lastMs: 2_000, lockedUntilMs: null })
})

test('a policy without a threshold locks no user, and admits users that another policy locked', () => {
  const none = { ...policy, threshold: 0 }
  expect(countFailure({ count: 99, lastMs: 1, lockedUntilMs: null }, none, 2).lockedUntilMs).toBeNull()
  expect(isLocked({ count: 5, lastMs: 1, lockedUntilMs: 9_999 }, none, 2)).toBe(false)
})

test('a lock without a duration holds until a person ends it', () => {
  const { lockedUntilMs } = countFailure(
    { count: 4, lastMs: 1, lockedUntilMs: null },
    { ...policy, durationSeconds: 0 },
    2,
  )
  expect(new Date(lockedUntilMs ?? 0).getUTCFullYear()).toBe(9999)
})
