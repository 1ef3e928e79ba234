import { Value } from 'typebox/value'
import { expect, test } from 'vitest'
import { Moment, timeIn } from './moment.ts'

const noon = Date.UTC(2026, 10, 21, 12)

test.each([
  ['2026-11-21T12:00:00Z'],
  ['2026-11-21T12:00'],
  ['2026-11-21T14:00:00+02:00'],
  // A + in a query that was not written as %2B.
  ['2026-11-21T14:00:00 02:00'],
  ['2026-11-21T10:00:00-02:00'],
])('%s is that moment', (text) => {
  expect(Value.Check(Moment, text)).toBe(true)
  expect(timeIn(text)).toBe(noon)
})

test.each(['2026-02-30', '2026-11-21T25:00:00Z'])('%s is no moment', (text) => {
  expect(timeIn(text)).toBeNaN()
})

test.each(['2026-11-21 12:00:00', '21.11.2026', '2026-11-21T12:00:00  02:00'])('%s is no time', (text) => {
  expect(Value.Check(Moment, text)).toBe(false)
})
