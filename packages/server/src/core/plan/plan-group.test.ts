import { describe, expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import {
  arrive,
  goalOf,
  groupOf,
  linked,
  noMemory,
  old,
  primaries,
  run,
  undoOf,
} from '../../../test/simulation/group.ts'
import { foresee } from '../dry-run/foresee.ts'
import { applyStep as expected } from '../dry-run/simulate.ts'
import { revisionOf } from '../state/goal.ts'
import { isLive, type ObservedShard, type Step } from '../state/topology.ts'
import { isUndoable } from './apply-deadlines.ts'
import { violations } from './invariants.ts'
import { planGroup } from './plan-group.ts'

const cases = fc.record({
  replicas: fc.integer({ min: 0, max: 3 }),
  aof: fc.boolean(),
  preserveRoles: fc.boolean(),
  picks: fc.infiniteStream(fc.nat()),
})

test('a primary that begins with a backup is on record only when its agent has counted the data', () => {
  const data = { keysInFile: 1, databases: [], functions: 0, memoryBytes: 1 }
  const seeds = [{ backup: 'b', group: 0, sha256: '', slots: { first: 0, last: 16_383 }, data }]
  const goal = goalOf({ from: null, seeds, replicas: 0 })
  const [shard] = groupOf(0).shards
  if (shard === undefined) throw new Error('there is no shard')
  const seen = { ...groupOf(0), recordedPrimary: null }
  const starting = { ...seen, shards: [{ ...shard, wanted: goal, process: 'starting' as const }] }
  // It answers, and may have only a part of the data.
  expect(planGroup(starting, goal)).toMatchObject({ kind: 'wait', code: 'loading', shard: shard.id })
  const running = { ...seen, shards: [{ ...shard, wanted: goal }] }
  expect(planGroup(running, goal)).toMatchObject({ kind: 'do', step: { kind: 'record-primary' } })
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

  // invariant: A serving primary is neither restarted nor doubled, and the last shard stays.
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

  // invariant: Nothing old is touched before the surge shard holds all data.
  test('touches nothing old before the surge shard holds all data', () => {
    fc.assert(
      fc.property(cases, ({ replicas, picks }) => {
        const kinds: string[] = []
        run(groupOf(replicas), goalOf({ replicas }), picks, (_, step) => kinds.push(step.kind))
        expect(kinds.slice(0, 2)).toEqual(['add-shard', 'hand-over'])
      }),
    )
  })

  test('restarts no leaving shard: the old primary is retired as it is, because the surge shard stays', () => {
    fc.assert(
      fc.property(cases, ({ replicas, picks }) => {
        const steps: Step[] = []
        run(groupOf(replicas), goalOf({ replicas }), picks, (_, step) => steps.push(step))
        const restarted = steps.flatMap((step) => (step.kind === 'restart-shard' ? [step.shard] : []))
        const retired = steps.flatMap((step) => (step.kind === 'retire-shard' ? [step.shard] : []))
        expect([...new Set(restarted)].toSorted()).toEqual(Array.from({ length: replicas }, (_, n) => n + 2))
        expect(retired).toEqual([1])
      }),
    )
  })

  test('begins nothing before every member is linked', () => {
    const start = groupOf(2)
    const broken = {
      ...start,
      shards: start.shards.map(
        (shard): ObservedShard =>
          shard.id === 3 && isLive(shard) ? { ...shard, engine: { ...shard.engine, link: 'down' } } : shard,
      ),
    }
    expect(planGroup(broken, goalOf({ replicas: 2 }))).toMatchObject({ kind: 'wait', shard: 3 })
  })

  test('without disk for a surge shard is hopeless: nothing could be saved in place either', () => {
    const start = { ...groupOf(1), node: { memoryFreeBytes: 1e12, diskFreeBytes: 1e6 } }
    expect(planGroup(start, goalOf())).toMatchObject({
      kind: 'hopeless',
      why: expect.stringContaining('MB of disk'),
    })
  })

  test('taken back after a replica refused to restart wants it again on the build that it still runs', () => {
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

  test('taken back while a replica is being stopped for its restart has not ended before that one is back', () => {
    const goal = goalOf()
    const start = groupOf(1)
    const turning = (process: 'stopping' | 'running') => ({
      ...start,
      shards: start.shards.map(
        (shard): ObservedShard =>
          shard.id === 2 ? { ...shard, process, wanted: { ...old, build: goal.build } } : shard,
      ),
    })
    expect(planGroup(turning('stopping'), undoOf(goal))).toMatchObject({ kind: 'wait', shard: 2 })
    expect(planGroup(turning('running'), undoOf(goal))).toMatchObject({ step: { kind: 'restart-shard' } })
    expect(planGroup(start, undoOf(goal))).toEqual({ kind: 'done' })
  })

  test.each([
    { to: { ...old, restartNonce: 1 }, runs: 'redis 7.0.15 (restart 1)' },
    { to: {}, runs: 'valkey 8.1.1' },
  ])('taken back gives up a shard on $runs, and says truly what comes after it', ({ to, runs }) => {
    const goal = { ...goalOf(), ...to }
    const both = expected(groupOf(1), { kind: 'add-shard', runs: goal, follow: 1, why: '' })
    const alone = { ...both, shards: both.shards.filter(({ id }) => id !== 2) }
    for (const [seen, then] of [
      [both, 'no other is needed in its place'],
      [alone, 'a fresh shard takes its place'],
    ] as const)
      expect(planGroup(seen, undoOf(goal))).toMatchObject({
        step: { kind: 'retire-shard', why: `it runs ${runs} for the upgrade, which is taken back; ${then}` },
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

  // invariant: An upgrade that is given up before its handover changes nothing of the database.
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
            if (!isUndoable({ groups: [next] }, goal)) break
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

  test('planned to its end takes the steps that the dry run says', () => {
    fc.assert(
      fc.property(cases, ({ replicas, preserveRoles, picks }) => {
        const goal = goalOf({ replicas, preserveRoles })
        const taken: string[] = []
        run(groupOf(replicas), goal, picks, (_, step) => taken.push(step.kind))
        const foreseen = foresee({ groups: [groupOf(replicas)] }, goal).map(({ step }) => step.kind)
        expect(taken.toSorted()).toEqual(foreseen.toSorted())
      }),
    )
  })
})
