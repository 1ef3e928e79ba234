import { describe, expect, test } from 'vitest'
import { goalOf, groupOf, noMemory, shardedOf } from '../../../test/simulation/group.ts'
import { type Goal, revisionOf } from '../state/goal.ts'
import { describePlan, lackOfMemoryFor } from './describe-plan.ts'

const trial = { ok: true, why: '', startMs: 40, version: '8.1.1' }

describe('the plan of an upgrade', () => {
  test('names the steps of a group with their reasons, and what clients would see', () => {
    const plan = describePlan({ groups: [groupOf(1)] }, { goal: goalOf(), change: true }, trial)
    expect(plan.lanes.map(({ steps }) => steps.map(({ kind }) => kind))).toEqual([
      ['add-shard', 'hand-over', 'seal-handover', 'restart-shard', 'retire-shard'],
    ])
    expect(plan).toMatchObject({ handovers: 1, outageMs: 0, risks: [], writeStopMs: { typical: 5 } })
    expect(plan.lanes.flatMap(({ steps }) => steps).every(({ why }) => why !== '')).toBe(true)
  })

  test('gives no number to a shard that is not there yet: others may have it by then', () => {
    const seen = shardedOf(2, 1)
    const goal = goalOf({ groups: 2, cluster: true, replicas: 1, homes: [1, 2] })
    const { lanes } = describePlan(seen, { goal, change: true }, trial)
    const known = new Set(seen.groups.flatMap(({ shards }) => shards.map(({ id }) => String(id))))
    const steps = lanes.flatMap((lane) => lane.steps)
    expect(steps.filter(({ kind }) => kind === 'add-shard').map(({ shard }) => shard)).toEqual([
      'new-1',
      'new-2',
    ])
    expect(steps.filter(({ kind }) => kind === 'hand-over').map(({ shard }) => shard)).toEqual([
      'new-1',
      'new-2',
    ])
    const numbers = steps.flatMap(({ shard, why }) => [
      ...(/^\d+$/.exec(shard) ?? []),
      ...[...why.matchAll(/shard (\d+)/g)].map(([, id = '']) => id),
    ])
    expect(numbers.filter((id) => !known.has(id))).toEqual([])
  })

  test('has a lane and a handover for each group of a sharded database', () => {
    const goal = goalOf({ groups: 3, cluster: true, replicas: 0, homes: [1, 2, 3] })
    const plan = describePlan(shardedOf(3, 0), { goal, change: true }, trial)
    expect(plan.lanes.map(({ group }) => group)).toEqual([0, 1, 2])
    expect(plan.handovers).toBe(3)
    expect(plan.lanes.every(({ steps }) => steps.some(({ kind }) => kind === 'hand-over'))).toBe(true)
  })

  test('says that a database without room or replica goes away for a while, and that there is no way back', () => {
    const seen = { groups: [{ ...groupOf(0), node: noMemory }] }
    const goal = goalOf({ replicas: 0, inPlace: true, persistence: 'snapshot' })
    const plan = describePlan(seen, { goal, change: true }, trial)
    expect(plan.outageMs).toBeGreaterThan(0)
    expect(plan.risks).toEqual([expect.stringMatching(/restarts in place.*no way back/)])
  })

  test('says which errors clients of the shards get if the old build cannot make writes wait', () => {
    const from = { build: { flavour: 'redis', version: '6.0.16' }, restartNonce: 0, modules: [] }
    const group = groupOf(1)
    const shards = group.shards.map((shard) => ({ ...shard, wanted: from, revision: revisionOf(from) }))
    const risksOf = (goal: Goal) =>
      describePlan({ groups: [{ ...group, shards }] }, { goal, change: true }, trial).risks
    expect(risksOf(goalOf({ from }))).toEqual([
      expect.stringMatching(/^redis 6\.0\.16 .*NOREPLICAS/),
      expect.stringMatching(/no way back to redis 6\.0\.16/),
    ])
    expect(risksOf(goalOf({ from, discard: true })).join()).not.toContain('NOREPLICAS')
  })

  test('names the shards that do not answer, not the target, as what is waited for', () => {
    const group = groupOf(1)
    const silent = (id: number) => ({
      ...group,
      shards: group.shards.map((shard) => (shard.id === id ? { ...shard, engine: null } : shard)),
    })
    const primary = describePlan({ groups: [silent(1)] }, { goal: goalOf(), change: true }, trial)
    expect(primary.risks).toEqual([
      expect.stringMatching(/^shard 1, the current primary of group 0, does not answer: /),
    ])
    const replica = describePlan({ groups: [silent(2)] }, { goal: goalOf(), change: true }, trial)
    expect(replica.risks).toEqual([
      expect.stringMatching(/^shard 2, a replica of group 0, does not answer: /),
    ])
  })

  test('says that data is discarded, that the target did not start, and what has not been measured', () => {
    const discard = describePlan(
      { groups: [groupOf(0)] },
      { goal: goalOf({ replicas: 0, discard: true }), change: true },
      trial,
    )
    expect(discard.risks).toEqual([expect.stringMatching(/discarded/)])
    const failed = { ...trial, ok: false, why: 'Bad directive' }
    const plan = describePlan({ groups: [groupOf(1)] }, { goal: goalOf(), change: true }, failed)
    expect(plan.risks).toEqual([expect.stringMatching(/does not start.*Bad directive/)])
    const unknown = goalOf({ build: { flavour: 'valkey', version: '12.0.0' } })
    const unproven = describePlan({ groups: [groupOf(1)] }, { goal: unknown, change: true }, trial).unproven
    expect(unproven[0]).toMatch(/it has not been measured/)
  })

  test('is empty when nothing would change', () => {
    const plan = describePlan({ groups: [groupOf(1)] }, { goal: goalOf(), change: false }, null)
    expect(plan).toMatchObject({ change: false, handovers: 0, risks: [], trial: null })
  })
})

test('memory is wanted for all surge shards at once', () => {
  expect(lackOfMemoryFor(shardedOf(3, 1))).toBeUndefined()
  const narrow = shardedOf(3, 1).groups.map((group) => ({
    ...group,
    node: { memoryFreeBytes: 150 * 1024 * 1024, diskFreeBytes: 1e12 },
  }))
  expect(lackOfMemoryFor({ groups: narrow })).toMatch(/need 293 MB of memory and the node has 150 MB free/)
})
