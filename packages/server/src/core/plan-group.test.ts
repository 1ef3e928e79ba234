import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expect as expected, foresee, settle } from './foresee.ts'
import { type Goal, revisionOf } from './goal.ts'
import { violations } from './invariants.ts'
import { isUndoable, judge } from './judge.ts'
import { planGroup } from './plan-group.ts'
import { isLinked, isLive, type Seen, type SeenShard, type Step } from './topology.ts'

const old = { build: { flavour: 'redis', version: '7.0.15' }, restartNonce: 0 }
const plenty = { memoryFreeBytes: 1e12, diskFreeBytes: 1e12 }
const noMemory = { memoryFreeBytes: 0, diskFreeBytes: 1e12 }

function groupOf(replicas: number, aof = false): Seen {
  const shards = Array.from({ length: replicas + 1 }, (_, n): SeenShard => {
    const isPrimary = n === 0
    return {
      id: n + 1,
      address: { host: '', port: n + 1 },
      wanted: old,
      revision: revisionOf(old),
      follows: isPrimary ? null : 1,
      process: 'running',
      leaving: false,
      processWhy: '',
      endedCleanly: false,
      engine: {
        role: isPrimary ? 'primary' : 'replica',
        primary: isPrimary ? null : { host: '', port: 1 },
        link: isPrimary ? 'down' : 'up',
        syncing: false,
        loading: false,
        replid: '',
        replid2: '',
        secondOffset: -1,
        offset: 0,
        usedMemoryBytes: 1e6,
        aof: aof ? 'on' : 'off',
      },
    }
  })
  return { shards, recordedPrimary: 1, history: null, handover: null, node: plenty }
}

function goalOf(change: Partial<Goal> = {}): Goal {
  return {
    kind: 'keep',
    build: { flavour: 'valkey', version: '8.1.1' },
    restartNonce: 0,
    replicas: 1,
    persistence: 'disabled',
    home: 1,
    preserveRoles: false,
    undo: false,
    ...change,
  }
}

const undoOf = (goal: Goal): Goal => ({ ...goal, ...old, undo: true, preserveRoles: true })

/** Lets some of what is on its way arrive, as the picks say: engines answer in no particular order. */
function arrive(seen: Seen, picks: Iterator<number>): Seen {
  const all = settle(seen)
  return {
    ...seen,
    shards: seen.shards.map((shard, n) => (pick(picks, 2) === 0 ? shard : (all.shards[n] ?? shard))),
  }
}
const pick = (picks: Iterator<number>, below: number) => (picks.next().value as number) % below

/** Plans, carries out and lets arrive, turn by turn, until it is done. `look` sees every step before it is taken. */
function run(start: Seen, goal: Goal, picks: Iterator<number>, look: (seen: Seen, step: Step) => void): Seen {
  let seen = start
  for (let turn = 0; turn < 2_000; turn++) {
    const verdict = planGroup(seen, goal)
    if (verdict.kind === 'done') return seen
    if (verdict.kind === 'stuck' || verdict.kind === 'hopeless')
      throw new Error(`${verdict.kind}: ${verdict.why}`)
    if (verdict.kind === 'do') {
      look(seen, verdict.step)
      seen = expected(seen, verdict.step)
    }
    seen = arrive(seen, picks)
  }
  throw new Error('the plan never ends')
}

const primaries = ({ shards }: Seen) =>
  shards.filter((shard) => isLive(shard) && shard.engine.role === 'primary')
const linked = (seen: Seen) =>
  seen.shards.filter((shard) => primaries(seen).some((primary) => isLinked(shard, primary))).length

const cases = fc.record({
  replicas: fc.integer({ min: 0, max: 3 }),
  aof: fc.boolean(),
  preserveRoles: fc.boolean(),
  picks: fc.infiniteStream(fc.nat()),
})

describe('an upgrade', () => {
  test('ends with every shard on the goal, linked, as many as before, and the roles as asked', () => {
    fc.assert(
      fc.property(cases, ({ replicas, aof, preserveRoles, picks }) => {
        const goal = goalOf({ replicas, preserveRoles, persistence: aof ? 'aof' : 'disabled' })
        const end = run(groupOf(replicas, aof), goal, picks, () => undefined)
        expect(end.shards.map((shard) => shard.revision)).toEqual(Array(replicas + 1).fill(revisionOf(goal)))
        expect(primaries(end).length).toBe(1)
        expect(linked(end)).toBe(replicas)
        expect(end.recordedPrimary).toBe(primaries(end)[0]?.id)
        expect(end.handover).toBeNull()
        if (preserveRoles) expect(end.recordedPrimary).toBe(1)
        if (aof) expect(end.shards.every((shard) => isLive(shard) && shard.engine.aof === 'on')).toBe(true)
      }),
    )
  })

  test('never breaks an invariant, and never has two primaries', () => {
    fc.assert(
      fc.property(cases, ({ replicas, aof, preserveRoles, picks }) => {
        const goal = goalOf({ replicas, preserveRoles, persistence: aof ? 'aof' : 'disabled' })
        run(groupOf(replicas, aof), goal, picks, (seen, step) => {
          expect(violations(seen, step)).toEqual([])
          expect(primaries(seen).length).toBeLessThanOrEqual(1)
        })
      }),
    )
  })

  test('never takes a shard away while fewer replicas are linked than the database had', () => {
    fc.assert(
      fc.property(cases, ({ replicas, preserveRoles, picks }) => {
        run(groupOf(replicas), goalOf({ replicas, preserveRoles }), picks, (seen, step) => {
          if (step.kind !== 'restart-shard' && step.kind !== 'retire-shard') return
          const others = { ...seen, shards: seen.shards.filter((shard) => shard.id !== step.shard) }
          expect(linked(others)).toBeGreaterThanOrEqual(replicas)
        })
      }),
    )
  })

  test('touches nothing old before the surge shard holds all data', () => {
    fc.assert(
      fc.property(cases, ({ replicas, picks }) => {
        const kinds: string[] = []
        run(groupOf(replicas), goalOf({ replicas }), picks, (_, step) => kinds.push(step.kind))
        expect(kinds.slice(0, 2)).toEqual(['add-shard', 'hand-over'])
      }),
    )
  })

  test('without disk for a surge shard is hopeless: nothing could be saved in place either', () => {
    const start = { ...groupOf(1), node: { memoryFreeBytes: 1e12, diskFreeBytes: 1e6 } }
    expect(planGroup(start, goalOf())).toMatchObject({
      kind: 'hopeless',
      why: expect.stringContaining('MB of disk'),
    })
  })

  test('taken back after a replica refused to restart wants it again as it never ceased to be', () => {
    const goal = goalOf()
    const asked = { ...old, build: goal.build }
    const start = groupOf(1)
    const refused = {
      ...start,
      shards: start.shards.map((shard) => (shard.id === 2 ? { ...shard, wanted: asked } : shard)),
    }
    expect(planGroup(refused, undoOf(goal))).toMatchObject({
      kind: 'do',
      step: { kind: 'restart-shard', shard: 2, runs: old },
    })
  })

  test('without memory for a surge shard is done in place, and is hopeless without a replica', () => {
    fc.assert(
      fc.property(cases, ({ replicas, preserveRoles, picks }) => {
        const start = { ...groupOf(replicas), node: noMemory }
        const goal = goalOf({ replicas, preserveRoles })
        if (replicas === 0) {
          expect(planGroup(start, goal)).toMatchObject({ kind: 'hopeless' })
          return
        }
        const kinds: string[] = []
        const end = run(start, goal, picks, (seen, step) => {
          kinds.push(step.kind)
          expect(violations(seen, step)).toEqual([])
        })
        expect(kinds).not.toContain('add-shard')
        expect(end.shards.map(({ id }) => id)).toEqual(start.shards.map(({ id }) => id))
        expect(end.shards.every((shard) => shard.revision === revisionOf(goal))).toBe(true)
      }),
    )
  })

  test('given up at any moment before its handover leaves the database as it was', () => {
    fc.assert(
      fc.property(cases, fc.nat({ max: 30 }), ({ replicas, aof, picks }, turns) => {
        const start = groupOf(replicas, aof)
        const goal = goalOf({ replicas, persistence: aof ? 'aof' : 'disabled' })
        let seen = start
        for (let turn = 0; turn < turns; turn++) {
          const verdict = planGroup(seen, goal)
          if (verdict.kind === 'do') {
            const next = expected(seen, verdict.step)
            if (!isUndoable(next, goal)) break
            seen = next
          }
          seen = arrive(seen, picks)
        }
        const end = run(seen, undoOf(goal), picks, (world, step) =>
          expect(violations(world, step)).toEqual([]),
        )
        expect(end.shards.map(({ id }) => id)).toEqual(start.shards.map(({ id }) => id))
        expect(end.recordedPrimary).toBe(1)
      }),
    )
  })

  test('planned to its end takes the steps that were foreseen', () => {
    fc.assert(
      fc.property(cases, ({ replicas, preserveRoles, picks }) => {
        const goal = goalOf({ replicas, preserveRoles })
        const taken: string[] = []
        run(groupOf(replicas), goal, picks, (_, step) => taken.push(step.kind))
        const foreseen = foresee(groupOf(replicas), goal).map((step) => step.kind)
        expect(taken.toSorted()).toEqual(foreseen.toSorted())
      }),
    )
  })
})

describe('a handover that was interrupted', () => {
  test('after the demotion is finished: the intended heir is promoted', () => {
    const goal = goalOf()
    const start = run2(goal)
    const stopped = interrupted(start, ['replica', 'replica', 'replica'])
    expect(planGroup(stopped, goal)).toMatchObject({ kind: 'do', step: { kind: 'promote', shard: 3 } })
  })

  test('before the demotion lets the clients go and tries again', () => {
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

  /** The group just before its handover: primary 1, replica 2, surge shard 3, all linked. */
  function run2(goal: Goal): Seen {
    let seen = groupOf(1)
    for (;;) {
      const verdict = planGroup(seen, goal)
      if (verdict.kind === 'do' && verdict.step.kind === 'hand-over') return seen
      seen = settle(verdict.kind === 'do' ? expected(seen, verdict.step) : seen)
    }
  }

  function interrupted(seen: Seen, roles: readonly ('primary' | 'replica')[]): Seen {
    const shards = seen.shards.map((shard, n): SeenShard => {
      const role = roles[n] ?? 'replica'
      const primary = role === 'primary' ? null : { host: '', port: shard.id === 1 ? 3 : 1 }
      return isLive(shard) ? { ...shard, engine: { ...shard.engine, role, primary, link: 'down' } } : shard
    })
    return { ...seen, shards, handover: { from: 1, to: 3, released: false, ageMs: 5 } }
  }
})

describe('a database that is kept', () => {
  const goal = goalOf({ ...old, home: null })

  test('is created from nothing, primary first', () => {
    const empty: Seen = { ...groupOf(0), shards: [], recordedPrimary: null }
    const end = run(empty, { ...goal, replicas: 2 }, stream(), (seen, step) =>
      expect(violations(seen, step)).toEqual([]),
    )
    expect(end.shards.length).toBe(3)
    expect(linked(end)).toBe(2)
  })

  test('whose primary died is served by the replica that holds the most, and the dead one comes back behind it', () => {
    const seen = groupOf(2)
    const died: Seen = {
      ...seen,
      history: { replid: 'a', offset: 90 },
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

  test('never promotes a replica that came back from an old file', () => {
    const seen = groupOf(1)
    const died: Seen = {
      ...seen,
      history: { replid: 'a', offset: 90 },
      shards: seen.shards.map((shard) =>
        shard.id === 1 || !isLive(shard)
          ? { ...shard, process: 'exited', engine: null }
          : { ...shard, engine: { ...shard.engine, replid: 'a', offset: 50, link: 'down' } },
      ),
    }
    expect(planGroup(died, goal)).toMatchObject({
      kind: 'do',
      step: { kind: 'start-shard', shard: 1, follow: null },
    })
  })

  test('that was stopped in order starts as it was: the primary from its own disk', () => {
    const seen = groupOf(1)
    const stopped: Seen = {
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

  test('with two primaries that share no history is left to a person, and takes no more writes', () => {
    const seen = groupOf(1)
    const split: Seen = {
      ...seen,
      shards: seen.shards.map((shard) =>
        isLive(shard)
          ? { ...shard, engine: { ...shard.engine, role: 'primary', primary: null, replid: `r${shard.id}` } }
          : shard,
      ),
    }
    expect(planGroup(split, goal)).toMatchObject({ kind: 'stuck', retry: { kind: 'fence', shards: [1, 2] } })
  })

  test('sees a begun retirement through, whether the process still answers or is gone already', () => {
    const leaving = (seen: Seen): Seen => ({
      ...seen,
      shards: seen.shards.map((shard) => (shard.id === 2 ? { ...shard, leaving: true } : shard)),
    })
    const gone = (seen: Seen): Seen => ({
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

test('hopelessness is for who can go back: taking an upgrade back is never given up', () => {
  const hopeless = { kind: 'hopeless', why: 'so it is' } as const
  expect(judge(hopeless, 0, groupOf(1), goalOf()).kind).toBe('hopeless')
  expect(judge(hopeless, 0, groupOf(1), undoOf(goalOf())).kind).toBe('stuck')
})

describe('waiting', () => {
  test('has an end: an upgrade that cannot link its surge shard is given up, after the handover a person is asked', () => {
    const wait = { kind: 'wait', shard: 3, why: 'shard 3 connects to shard 1' } as const
    expect(judge(wait, 1_000, groupOf(1), goalOf()).kind).toBe('wait')
    expect(judge(wait, 31_000, groupOf(1), goalOf()).kind).toBe('hopeless')
    expect(judge(wait, 31_000, groupOf(1), goalOf({ ...old })).kind).toBe('stuck')
  })
})

function* stream(): Generator<number> {
  for (let n = 1; ; n = (n * 7 + 3) % 1_000) yield n
}
