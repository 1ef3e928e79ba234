import { expect, test } from 'vitest'
import { runningAction } from '../../../test/simulation/group.ts'
import type { Action } from '../state/action.ts'
import { UPGRADES_AT_ONCE, whyNotAdmitted } from './admit-upgrade.ts'

const queued = (uid: string, second: number): Action => ({
  ...runningAction,
  uid,
  status: 'queued',
  createdAt: `2026-11-21T12:00:${String(second).padStart(2, '0')}.000Z`,
})
const others = (count: number, change: Partial<Action>) =>
  Array.from(
    { length: count },
    (_, n): Action => ({ ...runningAction, uid: `other-${n}`, step: 'wait', ...change }),
  )

test('an upgrade begins while fewer than the limit run, and otherwise waits with the reason', () => {
  const mine = queued('mine', 30)
  expect(whyNotAdmitted(mine, [mine, ...others(UPGRADES_AT_ONCE - 1, {})])).toBeUndefined()
  expect(whyNotAdmitted(mine, [mine, ...others(UPGRADES_AT_ONCE, {})])).toEqual({
    code: 'queued',
    why: expect.stringMatching(/8 other upgrade\(s\) run/),
    places: 1,
  })
})

test('those that wait for a person or for the time, and other kinds of actions, take no place', () => {
  const mine = queued('mine', 30)
  for (const change of [{ step: 'hold' as const }, { needsPerson: true }, { kind: 'create' as const }])
    expect(whyNotAdmitted(mine, [mine, ...others(20, change)])).toBeUndefined()
})

test('the first in the queue begins first, also of two that came in the same millisecond', () => {
  const line = [queued('b', 1), queued('a', 1), queued('c', 2)]
  const running = others(UPGRADES_AT_ONCE - 1, {})
  const may = line.filter((one) => whyNotAdmitted(one, [...line, ...running]) === undefined)
  expect(may.map(({ uid }) => uid)).toEqual(['a'])
})

test('an upgrade that runs already is never held back', () => {
  expect(whyNotAdmitted(runningAction, others(20, {}))).toBeUndefined()
})
