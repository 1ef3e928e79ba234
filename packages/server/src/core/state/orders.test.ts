import { describe, expect, test } from 'vitest'
import { goalOf, undoOf } from '../../../test/simulation/group.ts'
import { plainPolicy } from './goal.ts'
import { allowedBy, noOrders } from './orders.ts'

const goalWith = (policy: Partial<typeof plainPolicy>) => goalOf({ policy: { ...plainPolicy, ...policy } })
const at = Date.parse('2026-03-04T05:06:07.890Z')

describe('the permissions of an action', () => {
  test.each([
    ['without a policy, everything', {}, noOrders, null, at, true, true],
    ['supervised, nothing is handed over', { supervised: true }, noOrders, null, at, false, true],
    [
      'supervised and told to proceed, all',
      { supervised: true },
      { ...noOrders, proceed: true },
      null,
      at,
      true,
      true,
    ],
    [
      'in a window before the last handover, nothing is final',
      { rollbackWindow: 10 },
      noOrders,
      null,
      at,
      true,
      false,
    ],
    [
      'one millisecond before its end, nothing is final',
      { rollbackWindow: 10 },
      noOrders,
      at,
      at + 9_999,
      true,
      false,
    ],
    ['at the end of the window, it is', { rollbackWindow: 10 }, noOrders, at, at + 10_000, true, true],
    [
      'finalized in the window, it is',
      { rollbackWindow: 10 },
      { ...noOrders, finalize: true },
      at,
      at,
      true,
      true,
    ],
    [
      'until finalized, no time is enough',
      { rollbackWindow: 'until-finalized' },
      noOrders,
      at,
      at * 2,
      true,
      false,
    ],
    [
      'until finalized, a person is',
      { rollbackWindow: 'until-finalized' },
      { ...noOrders, finalize: true },
      at,
      at,
      true,
      true,
    ],
  ] as const)('%s', (_, policy, orders, handedOverAt, now, mayHandOver, mayFinalize) => {
    expect(allowedBy(goalWith(policy), orders, handedOverAt, now)).toMatchObject({
      paused: false,
      mayHandOver,
      mayFinalize,
    })
  })

  test('a pause stops everything except repairs, also an undo', () => {
    const orders = { ...noOrders, paused: true }
    expect(allowedBy(goalWith({}), orders, null, at).paused).toBe(true)
    expect(allowedBy(undoOf(goalWith({})), orders, null, at).paused).toBe(true)
  })

  test('an undo waits for neither the supervisor nor the window', () => {
    const undo = undoOf(goalWith({ supervised: true, rollbackWindow: 'until-finalized' }))
    expect(allowedBy(undo, noOrders, at, at)).toMatchObject({ mayHandOver: true, mayFinalize: true })
  })

  test('the reason names what is waited for: the end of the window, to the second, if it has one; otherwise a person', () => {
    expect(allowedBy(goalWith({ rollbackWindow: 10 }), noOrders, at, at).onFinalize).toEqual({
      on: 'time',
      code: 'rollback_window',
      why: expect.stringContaining('until 2026-03-04T05:06:17Z, or until a user'),
    })
    const goal = goalWith({ rollbackWindow: 'until-finalized' })
    expect(allowedBy(goal, noOrders, at, at).onFinalize.on).toBe('person')
  })
})
