import { describe, expect, test } from 'vitest'
import { goalOf, groupOf, linked, noMemory, old, run, undoOf } from '../../../test/simulation/group.ts'
import { type EngineState, isLive, type ObservedGroup } from '../state/topology.ts'
import { planGroup } from './plan-group.ts'

/** Shard 2 leads on the goal; 1 was the primary, 3 is another old replica. All follow at one offset. */
function ledByTwo(errors: Readonly<Record<number, number>>): ObservedGroup {
  const seen = groupOf(2)
  const leader = seen.shards[1]?.address ?? null
  return {
    ...seen,
    recordedPrimary: 2,
    standby: { shard: 1, runId: 'run-1', errorReplies: 0 },
    shards: seen.shards.map((shard) => {
      if (!isLive(shard)) return shard
      const role: Partial<EngineState> =
        shard.id === 2
          ? { role: 'primary', primary: null, link: 'down' }
          : { role: 'replica', primary: leader, link: 'up' }
      const runs = shard.id === 2 ? { wanted: goalOf(), revision: 'valkey-8.1.1+0' } : {}
      return {
        ...shard,
        ...runs,
        follows: shard.id === 2 ? null : 2,
        engine: { ...shard.engine, ...role, errorReplies: errors[shard.id] ?? 0 },
      }
    }),
  }
}
const goal = goalOf({ replicas: 1 })

describe('a replica that could not carry out a command of its primary', () => {
  test('is replaced by a fresh one at the end, not restarted: a restart would not bring the missing data back', () => {
    const seen = ledByTwo({ 1: 2, 3: 2 })
    expect(planGroup(seen, goal)).toMatchObject({ kind: 'do', step: { kind: 'add-shard', follow: 2 } })
    expect(planGroup({ ...seen, node: noMemory }, goal)).toMatchObject({
      kind: 'do',
      step: { kind: 'retire-shard', shard: 1 },
    })
  })

  test('goes at once if the others are enough', () => {
    expect(planGroup(ledByTwo({ 1: 2 }), goal)).toMatchObject({
      kind: 'do',
      step: { kind: 'retire-shard', shard: 1 },
    })
  })

  test('stays while its count of missed commands still decides about the way back', () => {
    expect(planGroup(ledByTwo({ 1: 2 }), goal, 'handover')).toMatchObject({ kind: 'hold' })
  })

  test('does not get the role back, although it was the original primary', () => {
    const roles = goalOf({ replicas: 1, preserveRoles: true })
    expect(planGroup(ledByTwo({ 1: 2 }), roles)).not.toMatchObject({ step: { kind: 'hand-over' } })
  })

  test('is not what an upgrade is taken back to', () => {
    const verdict = planGroup(ledByTwo({ 1: 2, 3: 1 }), undoOf(goal))
    expect(verdict).toMatchObject({ kind: 'hopeless', why: expect.stringMatching(/could not carry out/) })
  })

  test('is promoted last of those at one offset', () => {
    const seen = groupOf(2)
    const died: ObservedGroup = {
      ...seen,
      shards: seen.shards.map((shard) =>
        shard.id === 1 || !isLive(shard)
          ? { ...shard, process: 'exited', engine: null }
          : { ...shard, engine: { ...shard.engine, link: 'down', errorReplies: shard.id === 2 ? 3 : 0 } },
      ),
    }
    expect(planGroup(died, goalOf({ ...old, homes: [], replicas: 2 }))).toMatchObject({
      kind: 'do',
      step: { kind: 'promote', shard: 3 },
    })
  })
})

/** Everything under way finishes before the next turn. */
function* atOnce(): Generator<number> {
  for (;;) yield 1
}

test('a replica on redis 6.0 that has followed a newer primary is replaced by a fresh one: it may have skipped what it does not count', () => {
  const redis6 = { build: { flavour: 'redis', version: '6.0.16' }, restartNonce: 0, modules: [] }
  const start = groupOf(1)
  const shards = start.shards.map((shard) => ({ ...shard, wanted: redis6, revision: 'redis-6.0.16+0' }))
  const kinds: string[] = []
  const end = run({ ...start, shards }, goalOf({ from: redis6 }), atOnce(), (seen, step) => {
    kinds.push(step.kind)
    if (step.kind === 'retire-shard') expect(linked(seen)).toBeGreaterThan(1)
  })
  expect(kinds).not.toContain('restart-shard')
  expect(end.shards.map(({ revision }) => revision)).toEqual(['valkey-8.1.1+0', 'valkey-8.1.1+0'])
})

test('a standby that was restarted has lost its count of missed commands, and the role does not go back to it', () => {
  const seen = { ...ledByTwo({ 3: 1 }), standby: { shard: 1, runId: 'another', errorReplies: 0 } }
  expect(planGroup(seen, undoOf(goal))).toMatchObject({
    kind: 'hopeless',
    why: expect.stringMatching(/was restarted/),
  })
})

describe('an old primary that the upgrade has restarted on the new revision', () => {
  /**
   * Shard 2 was primary on the goal, and died when 1 was on the goal, too: 3, which is still on the old
   * revision, was promoted in its place.
   */
  function ledByThree(errorReplies: number): ObservedGroup {
    const seen = ledByTwo({})
    const leader = seen.shards[2]?.address ?? null
    const becomes: Readonly<Record<number, Partial<EngineState>>> = {
      1: { runId: 'run-1-anew', primary: leader, errorReplies },
      3: { role: 'primary', primary: null, link: 'down' },
    }
    return {
      ...seen,
      recordedPrimary: 3,
      shards: seen.shards
        .filter(({ id }) => id !== 2)
        .map((shard) => ({
          ...shard,
          ...(shard.id === 1 && { wanted: goalOf(), revision: 'valkey-8.1.1+0' }),
          follows: shard.id === 3 ? null : 3,
          engine: shard.engine && { ...shard.engine, ...becomes[shard.id] },
        })),
    }
  }

  test('takes over from a primary on the old revision, even if its process was restarted since it handed over', () => {
    expect(planGroup(ledByThree(0), goal)).toMatchObject({
      kind: 'do',
      step: { kind: 'hand-over', from: 3, to: 1 },
    })
  })

  test('does not, if it could not execute a command since', () => {
    expect(planGroup(ledByThree(1), goal)).toMatchObject({
      kind: 'hopeless',
      why: expect.stringMatching(/could not carry out 1 command/),
    })
  })
})

test('a shard whose port was taken by another process is replaced by one on another port', () => {
  const seen = groupOf(1)
  const taken: ObservedGroup = {
    ...seen,
    shards: seen.shards.map((shard) =>
      shard.id === 2
        ? {
            ...shard,
            process: 'failed',
            processWhy: 'exit code 1: bind: Address already in use',
            portTaken: true,
            engine: null,
          }
        : shard,
    ),
  }
  expect(planGroup(taken, goalOf({ ...old, homes: [] }))).toMatchObject({
    step: { kind: 'retire-shard', shard: 2 },
  })
  const first: ObservedGroup = {
    ...taken,
    recordedPrimary: null,
    shards: taken.shards.filter(({ id }) => id === 2),
  }
  expect(planGroup(first, goalOf({ ...old, homes: [] }))).toMatchObject({
    step: { kind: 'retire-shard', shard: 2 },
  })
})
