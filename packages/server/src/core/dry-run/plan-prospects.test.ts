import { describe, expect, test } from 'vitest'
import { goalOf, groupOf, noMemory, shardedOf } from '../../../test/simulation/group.ts'
import { type Goal, plainPolicy } from '../state/goal.ts'
import type { ObservedDatabase } from '../state/topology.ts'
import { describePlan } from './describe-plan.ts'

const trial = { ok: true, why: '', startMs: 40, version: '8.1.1' }
const alone = (replicas: number): ObservedDatabase => ({ groups: [groupOf(replicas)] })
const plan = (seen: ObservedDatabase, but: Partial<Goal> = {}, tried: typeof trial | null = trial) =>
  describePlan(seen, { goal: goalOf({ replicas: 0, ...but }), change: true }, tried)
const narrow = (replicas: number) => ({ groups: [{ ...groupOf(replicas), node: noMemory }] })
const inPlace = { inPlace: true, persistence: 'snapshot' } as const

describe('the smallest number of copies', () => {
  test.each([
    ['a single shard has one, and its surge shard joins before it leaves', alone(0), {}, 1],
    [
      'a replicated one has two: one surge shard more while the replica restarts',
      alone(1),
      { replicas: 1 },
      2,
    ],
    ['without room a replica is away while it restarts', narrow(1), { replicas: 1 }, 1],
    ['a single shard without room restarts in place: only the disk has the data', narrow(0), inPlace, 0],
  ])('%s', (_, seen, but, copies) => {
    const { redundancyMin, lanes } = plan(seen, but)
    expect(redundancyMin).toBe(copies)
    expect(lanes.map((lane) => lane.redundancyMin)).toEqual([copies])
  })

  test('of several groups the least counts, and each lane has its own', () => {
    const seen = shardedOf(2, 1)
    const [first, second] = seen.groups
    if (first === undefined || second === undefined) throw new Error('there are two groups')
    const silent = second.shards.map((shard) => (shard.id === 4 ? { ...shard, engine: null } : shard))
    const goal = { groups: 2, cluster: true, replicas: 1, homes: [1, 3] }
    const { redundancyMin, lanes } = plan({ groups: [first, { ...second, shards: silent }] }, goal)
    expect([redundancyMin, ...lanes.map((lane) => lane.redundancyMin)]).toEqual([1, 2, 1])
  })
})

describe('the way back', () => {
  const windowOf = (rollbackWindow: Goal['policy']['rollbackWindow']) => ({
    policy: { ...plainPolicy, rollbackWindow },
  })

  test.each([
    ['until the last group has handed over', alone(0), windowOf(0), 'handover', null],
    ['for a time', alone(0), windowOf(900), 'time', 900],
    ['until a user finalizes', alone(0), windowOf('until-finalized'), 'finalized', null],
    ['never, if the data is discarded', alone(0), { ...windowOf(900), discard: true }, 'never', null],
    [
      'never, if the only shard restarts in place',
      narrow(0),
      { ...windowOf(900), ...inPlace },
      'never',
      null,
    ],
    [
      'never to an engine that hides what it could not execute',
      alone(0),
      {
        ...windowOf(900),
        from: { build: { flavour: 'redis', version: '6.0.16' }, restartNonce: 0, modules: [] },
      },
      'never',
      null,
    ],
  ])('is open %s', (_, seen, but, until, seconds) => {
    const { wayBack, lanes } = plan(seen, but)
    expect(wayBack).toMatchObject({ until, seconds, why: expect.stringMatching(/\w/) })
    expect(lanes.map((lane) => lane.wayBack)).toEqual([wayBack])
  })

  test('of groups that differ, the whole database has that of the one without', () => {
    const seen = shardedOf(2, 0)
    const [first, second] = seen.groups
    if (first === undefined || second === undefined) throw new Error('there are two groups')
    const goal = { groups: 2, cluster: true, homes: [1, 2], ...inPlace, ...windowOf(900) }
    const { wayBack, lanes } = plan({ groups: [first, { ...second, node: noMemory }] }, goal)
    expect(lanes.map((lane) => lane.wayBack.until)).toEqual(['time', 'never'])
    expect(wayBack.until).toBe('never')
  })

  test('says whether another upgrade could lead back later', () => {
    const from = (flavour: string, version: string) => ({
      from: { build: { flavour, version }, restartNonce: 0, modules: [] },
    })
    expect(plan(alone(0), from('valkey', '8.0.1')).afterwards).toMatchObject({ possible: false })
    expect(plan(alone(0), from('redis', '7.0.15')).afterwards).toMatchObject({
      possible: false,
      why: expect.stringContaining('RDB format 11'),
    })
    expect(plan(alone(0), from('valkey', '8.1.1')).afterwards).toMatchObject({ possible: true })
    expect(plan(alone(0), from('redis', '8.0.2')).afterwards).toMatchObject({ possible: true })
  })
})

describe('the duration', () => {
  test('has each part with what it is based on, and adds up', () => {
    const { duration } = plan(alone(1), { replicas: 1 })
    expect(duration.parts).toEqual([
      { part: 'start', count: 1, bytes: null, ms: 40, basedOn: 'trial' },
      { part: 'copy', count: 1, bytes: 1e6, ms: 10, basedOn: 'measurements' },
      { part: 'restart', count: 1, bytes: null, ms: 40, basedOn: 'trial' },
      { part: 'load', count: 1, bytes: 1e6, ms: 10, basedOn: 'measurements' },
      { part: 'handover', count: 1, bytes: null, ms: 5, basedOn: 'measurements' },
    ])
    expect(duration.ms).toBe(105)
  })

  test('is not known where the target does not start, or was not tried', () => {
    for (const tried of [{ ...trial, ok: false, why: 'no' }, null]) {
      const { duration } = plan(alone(0), {}, tried)
      expect(duration.ms).toBeNull()
      expect(duration.parts[0]).toMatchObject({ part: 'start', ms: null, basedOn: null })
    }
  })

  test('copies nothing of data that is discarded', () => {
    const { duration } = plan(alone(0), { discard: true })
    expect(duration.parts.every(({ bytes }) => bytes === null || bytes === 0)).toBe(true)
  })

  test('names what it does not count', () => {
    const policy = { ...plainPolicy, supervised: true, rollbackWindow: 900 }
    expect(plan(alone(0), { policy }).duration.notCounted).toEqual([
      expect.stringContaining('resumes'),
      expect.stringContaining('900 s'),
      expect.stringContaining('other upgrades'),
    ])
  })
})
