import { expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { noFailures } from './lockout.ts'
import { countRight, countWrong, isShut, type LoginLane, newLane, type Tries } from './login-lanes.ts'

const policy = { threshold: 5, resetAfterSeconds: 900, durationSeconds: 1_800 }

/** An account, and the lanes of the sources that try to get into it. */
function openAccount() {
  const lanes = new Map<string, LoginLane>()
  let strangers: Tries['strangers'] = noFailures
  const triesOf = (source: string): Tries => ({ lane: lanes.get(source) ?? newLane(source), strangers })
  const take = (tries: Tries) => {
    lanes.set(tries.lane.source, tries.lane)
    strangers = tries.strangers
  }
  return {
    /** Answers whether the password was checked. */
    guess(source: string, nowMs: number): boolean {
      if (isShut(triesOf(source), policy, nowMs)) return false
      take(countWrong(triesOf(source), policy, nowMs))
      return true
    },
    signIn(source: string, nowMs: number): boolean {
      if (isShut(triesOf(source), policy, nowMs)) return false
      take(countRight(triesOf(source)))
      return true
    },
  }
}

// invariant: A source that a user has signed in from never waits for unknown sources.
test('whatever others try, from however many sources, a source that is known gets in', () => {
  const tries = fc.array(fc.record({ source: fc.nat(200), gap: fc.nat(120) }), { maxLength: 400 })
  fc.assert(
    fc.property(tries, (all) => {
      const account = openAccount()
      let nowMs = 1_000_000
      account.signIn('home', nowMs)
      for (const { source, gap } of all) {
        nowMs += gap * 1000
        account.guess(`stranger ${source}`, nowMs)
      }
      expect(account.signIn('home', nowMs)).toBe(true)
    }),
  )
})

test('one stranger keeps no other out; it has only five guesses in half an hour', () => {
  const account = openAccount()
  const judged = Array.from({ length: 1_000 }, (_, n) => account.guess('one', n * 1_000)).filter(Boolean)
  expect(judged.length).toBe(5)
  expect(account.signIn('other', 1_000_000)).toBe(true)
})

test('strangers from very many sources together can guess fifty times, then about once a minute', () => {
  const account = openAccount()
  const hour = Array.from({ length: 36_000 }, (_, n) => account.guess(`source ${n}`, n * 100)).filter(Boolean)
  expect(hour.length).toBeGreaterThan(50)
  expect(hour.length).toBeLessThan(50 + 10 + 60)
})

test('a source that is known and fails is locked out as any other, and no stranger with it', () => {
  const account = openAccount()
  account.signIn('home', 0)
  for (let n = 0; n < 5; n += 1) account.guess('home', 1_000)
  expect([account.signIn('home', 2_000), account.signIn('other', 2_000)]).toEqual([false, true])
  expect(account.signIn('home', 1_801_000)).toBe(true)
})
