import { expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { type KeyStep, type KeyTimes, planKeys, planRotation, stageOf } from './key-stages.ts'

const DAY_MS = 86_400_000
const EVERY_MS = 90 * DAY_MS

/** The keys after these steps, carried out at `nowMs`. */
function apply(
  before: readonly KeyTimes[],
  steps: readonly KeyStep[],
  nowMs: number,
  made: { count: number },
): readonly KeyTimes[] {
  let keys = before
  const change = (kid: string, news: Partial<KeyTimes>) =>
    keys.map((key) => (key.kid === kid ? { ...key, ...news } : key))
  for (const step of steps) {
    if (step.kind === 'add') {
      made.count += 1
      keys = [...keys, { kid: `key-${made.count}`, createdMs: nowMs, activeMs: null, retiredMs: null }]
    }
    if (step.kind === 'activate') keys = change(step.kid, { activeMs: nowMs })
    if (step.kind === 'retire') keys = change(step.kid, { retiredMs: nowMs })
    if (step.kind === 'drop') keys = keys.filter(({ kid }) => kid !== step.kid)
  }
  return keys
}

test('at any time, whatever was asked, one key signs, one is announced, and no key is dropped that a valid token needs', () => {
  const events = fc.array(
    fc.record({
      afterMs: fc.integer({ min: 0, max: 100 * DAY_MS }),
      ask: fc.constantFrom('nothing', 'rotate', 'drop'),
    }),
    { maxLength: 30 },
  )
  fc.assert(
    fc.property(events, (all) => {
      const made = { count: 0 }
      let keys: readonly KeyTimes[] = []
      let nowMs = 0
      for (const { afterMs, ask } of [{ afterMs: 0, ask: 'nothing' }, ...all]) {
        nowMs += afterMs
        const before = keys
        if (ask !== 'nothing') keys = apply(keys, planRotation(keys, ask === 'drop'), nowMs, made)
        let turns = 0
        for (
          let due = planKeys(keys, nowMs, EVERY_MS);
          due.length > 0;
          due = planKeys(keys, nowMs, EVERY_MS)
        ) {
          keys = apply(keys, due, nowMs, made)
          turns += 1
          expect(turns).toBeLessThan(6)
        }
        const stages = keys.map(stageOf)
        expect(stages.filter((stage) => stage === 'active')).toEqual(['active'])
        expect(stages.filter((stage) => stage === 'next')).toEqual(['next'])
        if (ask === 'drop') {
          expect(keys.filter(({ kid }) => before.some((key) => key.kid === kid))).toEqual([])
          continue
        }
        // A token lives for a day at most.
        const needed = before.filter(
          ({ activeMs, retiredMs }) => activeMs !== null && (retiredMs ?? nowMs) + DAY_MS > nowMs,
        )
        expect(needed.filter(({ kid }) => keys.every((key) => key.kid !== kid))).toEqual([])
        // The active key was announced before, except for the very first.
        const active = keys.find((key) => stageOf(key) === 'active')
        if (before.length > 0) expect(before.map(({ kid }) => kid)).toContain(active?.kid)
      }
    }),
  )
})

test('a key signs for its period, and is dropped a day after its last signature', () => {
  const key = { kid: 'a', createdMs: 0, activeMs: 0, retiredMs: null }
  const next = { kid: 'b', createdMs: 0, activeMs: null, retiredMs: null }
  expect(planKeys([key, next], EVERY_MS - 1, EVERY_MS)).toEqual([])
  expect(planKeys([key, next], EVERY_MS, EVERY_MS).map(({ kind }) => kind)).toEqual(['retire', 'activate'])
  const retired = { ...key, retiredMs: 0 }
  const active = { ...next, activeMs: 0 }
  const more = { ...next, kid: 'c' }
  expect(planKeys([retired, active, more], DAY_MS, EVERY_MS)).toEqual([])
  expect(planKeys([retired, active, more], DAY_MS + 60_000, EVERY_MS)).toMatchObject([
    { kind: 'drop', kid: 'a' },
  ])
})
