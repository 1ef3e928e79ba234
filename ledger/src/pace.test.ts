import { expect, test } from 'vitest'
import { fc } from '../../proof/properties.ts'
import { createPace } from './pace.ts'

test('the number of due commands follows the pace, however irregularly the clock is read', () => {
  const steps = fc.array(fc.double({ min: 0.01, max: 20, noNaN: true }), { minLength: 1, maxLength: 200 })
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 50_000 }), steps, (perSecond, waitsMs) => {
      const pace = createPace(perSecond, 0)
      let nowMs = 0
      let sent = 0
      for (const waitMs of waitsMs) {
        nowMs += waitMs
        for (let due = pace.due(nowMs); due > 0; due -= 1) {
          pace.take()
          sent += 1
        }
      }
      expect(Math.abs(sent - (perSecond * nowMs) / 1000)).toBeLessThanOrEqual(1.001)
    }),
  )
})

test('after a long stall at most 50 ms are made up for', () => {
  expect(createPace(20_000, 0).due(60_000)).toBe(1_000)
  expect(createPace(1, 0).due(60_000)).toBe(1)
})

test('a refused command is due again', () => {
  const pace = createPace(1_000, 0)
  expect(pace.due(1)).toBe(1)
  pace.take()
  expect(pace.due(1)).toBe(0)
  pace.giveBack()
  expect(pace.due(1)).toBe(1)
})

test('a pace of 0 is no limit', () => {
  expect(createPace(0, 0).due(0)).toBe(Number.POSITIVE_INFINITY)
})
