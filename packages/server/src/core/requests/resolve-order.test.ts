import type { HoldReason } from '@fairlead/api'
import { describe, expect, test } from 'vitest'
import { goalOf, runningAction } from '../../../test/simulation/group.ts'
import { type Action, undoGoal } from '../state/action.ts'
import { noOrders } from '../state/orders.ts'
import { wayBackClosed } from '../state/way-back.ts'
import { type Order, resolveOrder } from './resolve-order.ts'

const running = runningAction
const { goal } = running
const handedOver = { ...running, handedOverAt: '2026-11-21T12:00:00.000Z' }
const taking = { ...running, goal: undoGoal(goal), error: 'rolled back: asked for by ada' }
const supervised = { ...running, goal: goalOf({ policy: { ...goal.policy, supervised: true } }) }
const blocked = {
  ...handedOver,
  wayBack: wayBackClosed('standby_unlinked', 'the standby, shard 1, is not linked right now'),
}

const given = { by: 'ada', at: '2026-11-21T12:00:00.000Z' }

function waitingFor(code: HoldReason): Action {
  const wait = { on: 'shard', shard: null, until: null, stuck: false, code, why: 'it waits' } as const
  return { ...running, waiting: { ...wait, since: '2026-11-21T11:00:00.000Z' } }
}

const stuckFor = (code: HoldReason) => ({ ...waitingFor(code).waiting, stuck: true }) as Action['waiting']

describe('an order', () => {
  const cases: readonly (readonly [string, Action, Order, object])[] = [
    ['pauses what runs', running, 'pause', { orders: { paused: true } }],
    [
      'resumes what is paused',
      { ...running, orders: { ...noOrders, paused: true } },
      'resume',
      { orders: { paused: false } },
    ],
    ['lets a supervised upgrade pass its stop', supervised, 'resume', { orders: { proceed: true } }],
    [
      'cancels before a handover',
      running,
      'cancel',
      { goal: undoGoal(goal), error: 'cancelled: asked for by ada' },
    ],
    [
      'cancels after it, which is a rollback',
      handedOver,
      'cancel',
      {
        goal: undoGoal(goal),
        handedOverAt: null,
        error: 'cancelled after the handover, and rolled back: asked for by ada',
      },
    ],
    ['rolls back', handedOver, 'rollback', { error: 'rolled back: asked for by ada' }],
    [
      'rolls back an upgrade that has waited for a person, and it waits for no person any more',
      { ...handedOver, holdReason: 'until_finalized', needsPerson: true },
      'rollback',
      { holdReason: 'taken_back', needsPerson: false },
    ],
    [
      'rolls back before a handover, and says so',
      { ...running, orders: { ...noOrders, paused: true } },
      'rollback',
      {
        goal: undoGoal(goal),
        orders: { paused: false },
        error: 'rolled back before the handover: asked for by ada',
        holdReason: 'taken_back',
        waitingFor: 'it is being taken back: rollback was asked for by ada',
      },
    ],
    ['does again what is being taken back', taking, 'redo', { goal, error: null }],
    [
      'does again what is being taken back and paused: it goes on',
      { ...taking, orders: { ...noOrders, paused: true } },
      'redo',
      { goal, orders: { paused: false } },
    ],
    ['finalizes after the last handover', handedOver, 'finalize', { orders: { finalize: true } }],
    ...(['cannot_read', 'data_differs'] as const).map(
      (code) =>
        [
          `ends an upgrade whose rollback has no end: ${code}`,
          { ...taking, orders: { ...noOrders, paused: true }, waiting: stuckFor(code) },
          'finalize',
          { goal, orders: { finalize: true, paused: false }, error: null, ending: null, waiting: null },
        ] as const,
    ),
    ['tries again what is blocked: the next turn begins now', waitingFor('full_sync'), 'retry', {}],
    [
      'pauses what waits for another order, and it waits for the end of the pause at once',
      { ...supervised, waiting: waitingFor('supervised').waiting },
      'pause',
      {
        holdReason: 'paused',
        needsPerson: true,
        waiting: { on: 'person', code: 'paused', why: expect.stringContaining('paused'), since: given.at },
      },
    ],
  ]
  test.for(cases)('%s', ([, action, order, change]) => {
    expect(resolveOrder(action, order, given)).toMatchObject(change)
    expect(resolveOrder(action, order, given)).not.toHaveProperty('refused')
  })

  const refusals: readonly (readonly [string, Action, Order, string, RegExp])[] = [
    [
      'paused twice',
      { ...running, orders: { ...noOrders, paused: true } },
      'pause',
      'order_not_applicable',
      /paused/,
    ],
    ['resumed while it runs', running, 'resume', 'order_not_applicable', /neither paused/],
    ['finalized before a handover', running, 'finalize', 'order_not_applicable', /handed over/],
    [
      'finalized while taken back',
      { ...handedOver, goal: taking.goal },
      'finalize',
      'order_not_applicable',
      /redo/,
    ],
    [
      'finalized while taken back and stuck for what goes on by itself',
      { ...taking, waiting: stuckFor('node_room') },
      'finalize',
      'order_not_applicable',
      /redo/,
    ],
    ['cancelled while taken back', taking, 'cancel', 'order_not_applicable', /already/],
    [
      'rolled back while taken back: a user that orders it twice, or second, does not turn it round',
      taking,
      'rollback',
      'order_not_applicable',
      /already/,
    ],
    ['done again while it goes on', running, 'redo', 'order_not_applicable', /not being taken back/],
    ['done again in its window', handedOver, 'redo', 'order_not_applicable', /not being taken back/],
    [
      'rolled back without a way back',
      blocked,
      'rollback',
      'rollback_not_possible',
      /shard 1, is not linked/,
    ],
    ['tried again while nothing is blocked', running, 'retry', 'order_not_applicable', /nothing is blocked/],
    ['tried again while it is paused', waitingFor('paused'), 'retry', 'order_not_applicable', /resume it/],
    ['tried again at its stop', waitingFor('supervised'), 'retry', 'order_not_applicable', /resumes it/],
    [
      'tried again in its window',
      { ...handedOver, waiting: waitingFor('rollback_window').waiting },
      'retry',
      'order_not_applicable',
      /finalizes it/,
    ],
    ['given to a creation', { ...running, kind: 'create' }, 'pause', 'order_not_applicable', /create/],
  ]
  test.for(refusals)('is refused when %s', ([, action, order, code, words]) => {
    expect(resolveOrder(action, order, given)).toEqual({
      refused: code,
      message: expect.stringMatching(words),
    })
  })
})

test('an undo that is undone leads to the accepted goal again: both goals are kept', () => {
  const back = undoGoal(goal)
  expect(undoGoal(back)).toMatchObject({
    build: goal.build,
    restartNonce: goal.restartNonce,
    from: goal.from,
  })
})
