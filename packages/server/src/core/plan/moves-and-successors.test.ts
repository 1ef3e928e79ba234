import { expect, test } from 'vitest'
import { goalOf, groupOf } from '../../../test/simulation/group.ts'
import { plainPolicy, revisionOf } from '../state/goal.ts'
import { unrestricted } from '../state/orders.ts'
import type { EngineState, ObservedGroup, ObservedShard } from '../state/topology.ts'
import { planDatabase } from './plan-database.ts'
import { planGroup } from './plan-group.ts'

const goal = goalOf({ groups: 2, policy: { ...plainPolicy, canary: false } })
const onGoal = (shard: ObservedShard): ObservedShard => ({
  ...shard,
  wanted: goal,
  revision: revisionOf(goal),
})

test.each([
  [false, { kind: 'hold', code: 'other_groups' }],
  [true, { kind: 'do', step: { kind: 'hand-over', from: 3, to: 4 } }],
] as const)(
  'a role moves only after everything that another handover held is released: %s',
  (released, verdict) => {
    const first = groupOf(1)
    const second = groupOf(1, false, 3)
    const groups: readonly ObservedGroup[] = [
      { ...first, shards: first.shards.map(onGoal), handover: { from: 9, to: 1, released, ageMs: 5 } },
      { ...second, group: 1, shards: second.shards.map((shard) => (shard.id === 4 ? onGoal(shard) : shard)) },
    ]
    expect(planDatabase({ groups }, goal, unrestricted)[1]).toMatchObject({ verdict })
  },
)

test('a replica in the middle of a full sync is not promoted, however far it is', () => {
  const seen = groupOf(2)
  const engines: Readonly<Record<number, Partial<EngineState>>> = {
    2: { syncing: true, offset: 100, link: 'down' },
    3: { offset: 50, link: 'down' },
  }
  const shards = seen.shards.map((shard): ObservedShard => {
    if (shard.id === 1 || shard.engine === null)
      return { ...shard, process: 'exited', asleep: true, engine: null }
    return { ...shard, engine: { ...shard.engine, ...engines[shard.id] } }
  })
  expect(planGroup({ ...seen, shards }, goal)).toMatchObject({ step: { kind: 'promote', shard: 3 } })
})
