import { describe, expect, test } from 'vitest'
import { goalOf, groupOf, linked, old, run, stream } from '../../../test/simulation/group.ts'
import { converge, applyStep as expected } from '../dry-run/simulate.ts'
import type { Goal } from '../state/goal.ts'
import {
  type Disk,
  type EngineState,
  isLive,
  type ObservedGroup,
  type ObservedShard,
} from '../state/topology.ts'
import { violations } from './invariants.ts'
import { planGroup } from './plan-group.ts'

const noDisk: Disk = { lookedAt: 0, snapshot: null, aof: 'none', claim: null }

describe('a handover that was interrupted', () => {
  test('after the demotion is finished: the intended successor is promoted', () => {
    const goal = goalOf()
    const start = run2(goal)
    const stopped = interrupted(start, ['replica', 'replica', 'replica'])
    expect(planGroup(stopped, goal)).toMatchObject({ kind: 'do', step: { kind: 'promote', shard: 3 } })
  })

  test('before the demotion releases the clients and is tried again', () => {
    const goal = goalOf()
    const stopped = { ...run2(goal), handover: { from: 1, to: 3, released: false, ageMs: 5 } }
    expect(planGroup(stopped, goal)).toMatchObject({
      kind: 'do',
      step: { kind: 'release-handover', primary: 1 },
    })
    const kinds: string[] = []
    run(stopped, goal, stream(), (seen, step) => {
      kinds.push(step.kind)
      expect(violations(seen, step)).toEqual([])
    })
    expect(kinds.slice(0, 3)).toEqual(['release-handover', 'seal-handover', 'hand-over'])
  })

  test('completes its certificate when every follower is back, or one has been waited for long enough, and says which', () => {
    const goal = goalOf({ build: old.build })
    const sealed = (link: 'up' | 'down', ageMs: number) => {
      const seen = groupOf(1)
      const shards = seen.shards.map((shard) =>
        isLive(shard) && shard.id === 2 ? { ...shard, engine: { ...shard.engine, link } } : shard,
      )
      return planGroup({ ...seen, shards, handover: { from: 2, to: 1, released: true, ageMs } }, goal)
    }
    expect(sealed('up', 0)).toMatchObject({
      step: { kind: 'seal-handover', why: expect.stringMatching(/^every follower has resumed/) },
    })
    expect(sealed('down', 0)).toMatchObject({ kind: 'wait', shard: 2 })
    expect(sealed('down', 60_000)).toMatchObject({
      step: { kind: 'seal-handover', why: expect.stringMatching(/^shard 2 does not resume/) },
    })
  })

  /** The group just before its handover: primary 1, replica 2, surge shard 3, all linked. */
  function run2(goal: Goal): ObservedGroup {
    let seen = groupOf(1)
    for (;;) {
      const verdict = planGroup(seen, goal)
      if (verdict.kind === 'do' && verdict.step.kind === 'hand-over') return seen
      seen = converge(verdict.kind === 'do' ? expected(seen, verdict.step) : seen)
    }
  }

  function interrupted(seen: ObservedGroup, roles: readonly ('primary' | 'replica')[]): ObservedGroup {
    const shards = seen.shards.map((shard, n): ObservedShard => {
      const role = roles[n] ?? 'replica'
      const primary = role === 'primary' ? null : { host: '', port: shard.id === 1 ? 3 : 1 }
      return isLive(shard) ? { ...shard, engine: { ...shard.engine, role, primary, link: 'down' } } : shard
    })
    return { ...seen, shards, handover: { from: 1, to: 3, released: false, ageMs: 5 } }
  }
})

describe('a database that is kept', () => {
  const goal = goalOf({ ...old, homes: [] })

  test('is created from nothing, primary first', () => {
    const empty: ObservedGroup = { ...groupOf(0), shards: [], recordedPrimary: null }
    const end = run(empty, { ...goal, replicas: 2 }, stream(), (seen, step) =>
      expect(violations(seen, step)).toEqual([]),
    )
    expect(end.shards.length).toBe(3)
    expect(linked(end)).toBe(2)
  })

  test('whose primary died is served by the replica that holds the most, and the dead one comes back as its replica', () => {
    const seen = groupOf(2)
    const died: ObservedGroup = {
      ...seen,
      history: { replid: 'a', offset: 90, runId: null },
      shards: seen.shards.map((shard) =>
        shard.id === 1 || !isLive(shard)
          ? { ...shard, process: 'exited', engine: null }
          : { ...shard, engine: { ...shard.engine, replid: 'a', offset: 100 + shard.id, link: 'down' } },
      ),
    }
    expect(planGroup(died, { ...goal, replicas: 2 })).toMatchObject({
      kind: 'do',
      step: { kind: 'promote', shard: 3 },
    })
  })

  /** Shard 1 was the primary and is dead; shard 2 came back from its disk, with 100 keys. */
  const cameBack = (disk: Partial<Disk>, engine: Partial<EngineState> = {}): ObservedGroup => {
    const seen = groupOf(1)
    return {
      ...seen,
      history: { replid: 'a', offset: 90, runId: null },
      shards: seen.shards.map((shard) =>
        shard.id === 1 || !isLive(shard)
          ? { ...shard, process: 'exited', asleep: true, engine: null, disk: { ...noDisk, ...disk } }
          : {
              ...shard,
              engine: {
                ...shard.engine,
                replid: 'a',
                offset: 95,
                link: 'down',
                streamed: false,
                ...engine,
              },
            },
      ),
    }
  }
  const fromDisk = { kind: 'do', step: { kind: 'start-shard', shard: 1, follow: null } }
  const promoted = { kind: 'do', step: { kind: 'promote', shard: 2 } }

  test.each([
    ['holds each write', { aof: 'whole' }, {}, fromDisk],
    ['holds as much', { snapshot: { replid: 'a', offset: 95 } }, {}, fromDisk],
    ['holds less', { snapshot: { replid: 'a', offset: 60 } }, {}, promoted],
    ['is of another history', { snapshot: { replid: 'z', offset: 60 } }, { replid: 'y' }, fromDisk],
    ['is of a former history', { snapshot: { replid: 'z', offset: 99 } }, {}, promoted],
    ['has nothing', {}, {}, promoted],
    ['is empty, as are all others', {}, { keys: 0 }, fromDisk],
  ] as const)('when the power has gone, and the disk of the primary %s', (_, disk, engine, verdict) => {
    const seen = cameBack(disk, engine)
    const plan = planGroup(seen, goal)
    expect(plan).toMatchObject(verdict)
    expect(plan.kind === 'do' && violations(seen, plan.step)).toEqual([])
  })

  // invariant: A replica that came back from an old file is not promoted.
  test('never promotes a shard that came back from its disk beside a primary whose disk holds more, and empties no shard with data', () => {
    const whole = cameBack({ aof: 'whole' })
    expect(violations(whole, { kind: 'promote', shard: 2, why: '' })).toHaveLength(1)
    const empty = cameBack({})
    expect(violations(empty, { kind: 'start-shard', shard: 1, follow: null, why: '' })).toHaveLength(1)
  })

  test('waits until it is known what is on the disk of its last primary', () => {
    const seen = cameBack({})
    const shards = seen.shards.map((shard) => (shard.id === 1 ? { ...shard, disk: null } : shard))
    expect(planGroup({ ...seen, shards }, goal)).toMatchObject({ kind: 'wait', shard: 1 })
  })

  test('does not serve an empty data set while a shard has a file that no process has loaded', () => {
    const seen = cameBack({}, { keys: 0 })
    const shards = seen.shards.map((shard) =>
      shard.id === 2 ? { ...shard, disk: { ...noDisk, aof: 'older' as const } } : shard,
    )
    expect(planGroup({ ...seen, shards }, goal)).toMatchObject({ kind: 'stuck' })
  })

  test('in cluster mode starts the successor that took over unrecorded', () => {
    const seen = cameBack({ aof: 'whole', claim: 3 })
    const shards = seen.shards.map(
      (shard): ObservedShard =>
        shard.id === 2
          ? {
              ...shard,
              process: 'exited',
              asleep: true,
              engine: null,
              disk: { ...noDisk, aof: 'whole', claim: 4 },
            }
          : shard,
    )
    const moved = { from: 1, to: 2, released: false, ageMs: 5 }
    const sharded: ObservedGroup = { ...seen, slots: { first: 0, last: 16_383 }, shards, handover: moved }
    expect(planGroup(sharded, goal)).toMatchObject({
      kind: 'do',
      step: { kind: 'start-shard', shard: 2, follow: null },
    })
    expect(planGroup({ ...sharded, handover: { ...moved, released: true } }, goal)).toMatchObject(fromDisk)
  })

  test('that was stopped in order starts as it was: the primary from its own disk', () => {
    const seen = groupOf(1)
    const stopped: ObservedGroup = {
      ...seen,
      shards: seen.shards.map((shard) =>
        shard.id === 1 || !isLive(shard)
          ? { ...shard, process: 'exited', endedCleanly: true, engine: null }
          : { ...shard, engine: { ...shard.engine, link: 'down' } },
      ),
    }
    expect(planGroup(stopped, goal)).toMatchObject({
      kind: 'do',
      step: { kind: 'start-shard', shard: 1, follow: null },
    })
  })

  test('takes back an empty process that follows a shard that is gone, but not one with data', () => {
    const seen = groupOf(1)
    const strayed = (keys: number, offset: number, streamed = true): ObservedGroup => ({
      ...seen,
      shards: seen.shards.map((shard) =>
        shard.id === 2 && isLive(shard)
          ? {
              ...shard,
              engine: {
                ...shard.engine,
                replid: 'own',
                primary: { host: '', port: 99 },
                link: 'down',
                keys,
                offset,
                streamed,
              },
            }
          : shard,
      ),
    })
    expect(planGroup(strayed(0, 1), goal)).toMatchObject({ kind: 'do', step: { kind: 'follow', shard: 2 } })
    expect(planGroup(strayed(3, 1), goal)).toMatchObject({ kind: 'stuck' })
    expect(planGroup(strayed(0, 50), goal)).toMatchObject({ kind: 'stuck' })
    // The data on its disk were compared before its primary served.
    expect(planGroup(strayed(3, 1, false), goal)).toMatchObject({ kind: 'do', step: { kind: 'follow' } })
  })

  test('does not promote a replica that is being stopped: it is waited for', () => {
    const seen = groupOf(1)
    const shards = seen.shards.map(
      (shard): ObservedShard =>
        shard.id === 2 && isLive(shard)
          ? { ...shard, process: 'stopping', engine: { ...shard.engine, link: 'down' } }
          : { ...shard, process: 'exited', engine: null },
    )
    expect(planGroup({ ...seen, shards }, goalOf())).toMatchObject({ kind: 'wait', shard: 2 })
  })

  test('tries nothing that breaks an invariant when no shard can be promoted', () => {
    const seen = groupOf(1)
    const shards = seen.shards.map((shard): ObservedShard => {
      if (shard.id !== 1 || !isLive(shard)) return { ...shard, process: 'exited', engine: null }
      const role = { role: 'replica', primary: { host: '', port: 2 }, link: 'down', replid: 'x' } as const
      return { ...shard, engine: { ...shard.engine, ...role } }
    })
    const lost: ObservedGroup = { ...seen, shards, history: { replid: 'a', offset: 20, runId: null } }
    const verdict = planGroup(lost, goalOf())
    expect(verdict.kind).toBe('stuck')
    const retry = verdict.kind === 'stuck' ? verdict.retry : undefined
    expect(retry === undefined ? [] : violations(lost, retry)).toEqual([])
  })

  test('whose replica is not restarted, because a crash came between its record and its agent, starts it', () => {
    const seen = groupOf(1)
    const asleep: ObservedGroup = {
      ...seen,
      shards: seen.shards.map((shard) =>
        shard.id === 2 ? { ...shard, process: 'exited', asleep: true, engine: null } : shard,
      ),
    }
    expect(planGroup(asleep, goal)).toMatchObject({
      kind: 'do',
      step: { kind: 'start-shard', shard: 2, follow: 1 },
    })
  })

  test.each([
    ['is not restarted because it was to take over', { process: 'exited', asleep: true, follows: 1 }],
    ['was the primary', { process: 'exited', asleep: true, follows: null }],
    ['was the primary and does not start', { process: 'failed', follows: null }],
  ] as const)(
    'in cluster mode never starts a shard that %s: it would claim the slots, and empty the others',
    (_, change) => {
      const seen = groupOf(1)
      const shards = seen.shards.map((shard) =>
        shard.id === 2 ? { ...shard, ...change, engine: null } : shard,
      )
      const sharded: ObservedGroup = { ...seen, slots: { first: 0, last: 16_383 }, shards }
      expect(planGroup(sharded, goal)).toMatchObject({ kind: 'do', step: { kind: 'retire-shard', shard: 2 } })
      expect(violations(sharded, { kind: 'start-shard', shard: 2, follow: 1, why: '' })).toHaveLength(1)
    },
  )

  test('with two primaries that share no history waits for a person, and takes no more writes', () => {
    const seen = groupOf(1)
    const split: ObservedGroup = {
      ...seen,
      shards: seen.shards.map((shard) =>
        isLive(shard)
          ? { ...shard, engine: { ...shard.engine, role: 'primary', primary: null, replid: `r${shard.id}` } }
          : shard,
      ),
    }
    expect(planGroup(split, goal)).toMatchObject({ kind: 'stuck', retry: { kind: 'fence', shards: [1, 2] } })
  })

  test('completes a retirement that was begun, whether the process still answers or is gone already', () => {
    const leaving = (seen: ObservedGroup): ObservedGroup => ({
      ...seen,
      shards: seen.shards.map((shard) => (shard.id === 2 ? { ...shard, leaving: true } : shard)),
    })
    const gone = (seen: ObservedGroup): ObservedGroup => ({
      ...seen,
      shards: seen.shards.map((shard) =>
        shard.id === 2 ? { ...shard, process: 'absent', engine: null } : shard,
      ),
    })
    for (const seen of [leaving(groupOf(2)), gone(leaving(groupOf(2)))]) {
      expect(planGroup(seen, goal)).toMatchObject({ kind: 'do', step: { kind: 'retire-shard', shard: 2 } })
    }
  })

  test('is removed shard by shard until nothing is left', () => {
    const end = run(groupOf(2), { ...goal, kind: 'remove' }, stream(), () => undefined)
    expect(end.shards).toEqual([])
  })
})
