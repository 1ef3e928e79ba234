import { expect, test } from 'vitest'
import { longestWriteStopMs } from './handover.ts'

const intendedAt = '2026-11-23T10:00:00.000Z'

test('a handover that a crash interrupted has stopped writes no longer than since its intent', () => {
  expect(longestWriteStopMs({ intendedAt }, Date.parse(intendedAt) + 1_200)).toBe(1_200)
})

test('if the clock was set back meanwhile, no bound is known, and none is reported', () => {
  expect(longestWriteStopMs({ intendedAt }, Date.parse(intendedAt) - 3_600_000)).toBeNull()
})
