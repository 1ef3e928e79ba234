import { expect, test } from 'vitest'
import { goalOf, shardedOf } from '../../../test/simulation/group.ts'
import { applyToDatabase, convergeDatabase } from '../dry-run/simulate.ts'
import { plainPolicy } from '../state/goal.ts'
import { allowedBy, noOrders } from '../state/orders.ts'
import type { Goal, ObservedDatabase } from '../state/topology.ts'
import { describeReadiness, planDatabase } from './plan-database.ts'

const goalWith = (policy: Partial<Goal['policy']>) =>
  goalOf({
    groups: 2,
    cluster: true,
    replicas: 0,
    homes: [1, 2],
    policy: { ...plainPolicy, ...policy },
  })

/** Why each of two groups holds when nothing more can be done, in their order. */
function reasonsOf(goal: Goal, orders: Partial<typeof noOrders>, handedOverAt: number | null) {
  return lanesAtRest(goal, { ...noOrders, ...orders }, handedOverAt, shardedOf(2, 0)).map(({ verdict }) =>
    'code' in verdict ? verdict.code : verdict.kind,
  )
}

/** What the groups do when nothing more can be done. */
function lanesAtRest(
  goal: Goal,
  orders: typeof noOrders,
  handedOverAt: number | null,
  from: ObservedDatabase,
) {
  let seen = from
  for (let turn = 0; turn < 100; turn += 1) {
    const lanes = planDatabase(seen, goal, allowedBy(goal, orders, handedOverAt, 1_000))
    if (lanes.every(({ verdict }) => verdict.kind !== 'do')) return lanes
    for (const { group, verdict } of lanes)
      if (verdict.kind === 'do') seen = applyToDatabase(seen, group, verdict.step)
    seen = convergeDatabase(seen)
  }
  throw new Error('it never holds')
}

test.each([
  ['a user has paused it', {}, { paused: true }, null, ['paused', 'paused']],
  ['it is supervised', { supervised: true }, {}, null, ['supervised', 'canary']],
  ['a user has to finalize', until('until-finalized'), {}, 500, ['until_finalized', 'until_finalized']],
  ['the window is open', until(3_600), {}, 500, ['rollback_window', 'rollback_window']],
] as const)('an upgrade that holds says why in a code: %s', (_, policy, orders, handedOverAt, reasons) => {
  expect(reasonsOf(goalWith(policy), orders, handedOverAt)).toEqual(reasons)
})

test.each([
  [2, true, 'group 0 is ready, and the other group begins after it'],
  [9, true, 'group 0 is ready, and the other 8 groups begin after it'],
  [3, false, 'all 3 groups are ready'],
  [1, true, 'everything is ready'],
] as const)(
  'the stop of a supervised upgrade says which of %i groups are ready, with a canary: %s',
  (count, canary, words) => {
    const goal = goalWith({ supervised: true, canary })
    const { verdict } =
      lanesAtRest(goal, noOrders, null, shardedOf(count, 0)).find(
        ({ verdict }) => verdict.kind === 'hold' && verdict.code === 'supervised',
      ) ?? {}
    expect(verdict).toMatchObject({
      why: `${words}; the upgrade is supervised and goes on when a user resumes it`,
    })
  },
)

test('groups that are ready are named, beside one that is not', () => {
  const supervised = { kind: 'hold', on: 'person', code: 'supervised', why: '' } as const
  const stuck = { kind: 'stuck', code: 'shard_failing', why: 'it does not start' } as const
  const lanes = [supervised, stuck, supervised].map((verdict, group) => ({ group, verdict }))
  expect(describeReadiness(lanes, { policy: { ...plainPolicy, canary: false } })).toMatchObject([
    { verdict: { why: expect.stringMatching(/^groups 0 and 2 are ready; /) } },
    { verdict: { why: 'it does not start' } },
    { verdict: { why: expect.stringMatching(/^groups 0 and 2 are ready; /) } },
  ])
})

test('a group that has to wait for its turn says what it waits for', () => {
  const goal = goalWith({ canary: false, parallel: 1 })
  const lanes = planDatabase(shardedOf(2, 0), goal, allowedBy(goal, noOrders, null, 0))
  expect(lanes).toMatchObject([
    { verdict: { kind: 'do' } },
    { verdict: { kind: 'hold', code: 'parallel_limit' } },
  ])
})

function until(rollbackWindow: Goal['policy']['rollbackWindow']) {
  return { rollbackWindow }
}
