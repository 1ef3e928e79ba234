import { describe, expect, test } from 'vitest'
import { goalOf, groupOf, old, shardedOf, undoOf } from '../../../test/simulation/group.ts'
import type { ObservedDatabase } from '../state/topology.ts'
import { applyDeadlines, isUndoable } from './apply-deadlines.ts'

test('only an action that can be undone is given up: an undo is never given up', () => {
  const hopeless = { kind: 'hopeless', code: 'cannot_read', why: 'so it is' } as const
  expect(applyDeadlines(hopeless, { waitedMs: 0 }, groupOf(1), true).kind).toBe('hopeless')
  expect(applyDeadlines(hopeless, { waitedMs: 0 }, groupOf(1), false).kind).toBe('stuck')
  expect(isUndoable({ groups: [groupOf(1)] }, goalOf())).toBe(true)
  expect(isUndoable({ groups: [groupOf(1)] }, undoOf(goalOf()))).toBe(false)
})

describe('waiting', () => {
  test('has an end: an upgrade that cannot link its surge shard is given up; after the handover a person is asked', () => {
    const wait = { kind: 'wait', shard: 3, code: 'replication', why: 'shard 3 connects to shard 1' } as const
    expect(applyDeadlines(wait, { waitedMs: 1_000 }, groupOf(1), true).kind).toBe('wait')
    expect(applyDeadlines(wait, { waitedMs: 31_000 }, groupOf(1), true).kind).toBe('hopeless')
    expect(applyDeadlines(wait, { waitedMs: 31_000 }, groupOf(1), false).kind).toBe('stuck')
    expect(applyDeadlines(wait, { waitedMs: 31_000 }, groupOf(1), true, '; try again')).toEqual({
      kind: 'hopeless',
      code: 'replication',
      why: 'shard 3 connects to shard 1, for 31 s now; try again',
    })
  })
})

describe('an introduction', () => {
  const why = 'shard 3 must be introduced to shard 1 of the cluster, and no shard to it'
  const meet = {
    kind: 'do',
    step: { kind: 'meet', greetings: [{ by: 1, to: 3 }], shard: 3, missing: 1, why },
  } as const
  const arriving = { kind: 'wait', shard: 3, code: 'cluster_view', why, progress: 1 } as const

  test('may take the minute for which engines keep out a node that they were told to forget', () => {
    for (const verdict of [meet, arriving]) {
      expect(applyDeadlines(verdict, { waitedMs: 80_000 }, groupOf(1), true)).toBe(verdict)
      expect(applyDeadlines(verdict, { waitedMs: 80_000 }, groupOf(1), false)).toBe(verdict)
    }
  })

  // invariant: A wait without progress ends: the upgrade is undone, or a person is asked.
  test('that brings nothing ends an upgrade that can be undone; otherwise a person is asked, and it goes on', () => {
    const waited = { waitedMs: 130_000 }
    for (const verdict of [meet, arriving]) {
      expect(applyDeadlines(verdict, waited, groupOf(1), true)).toMatchObject({
        kind: 'hopeless',
        code: 'cluster_view',
      })
    }
    const words = {
      code: 'cluster_view',
      why: `${why}, for more than 2 min now; see docs/explain/cluster-view.md`,
    }
    expect(applyDeadlines(meet, waited, groupOf(1), false)).toEqual({ ...meet, late: words })
    expect(applyDeadlines(arriving, waited, groupOf(1), false)).toEqual({ kind: 'stuck', ...words })
  })
})

describe('a step that is tried again and again', () => {
  const handOver = { kind: 'do', step: { kind: 'hand-over', from: 1, to: 3, why: 'it is ready' } } as const

  test('asks a person after two minutes, says why the last attempt changed nothing, and gives nothing up', () => {
    const held = { code: 'replication', why: 'the stream does not flow yet' } as const
    expect(applyDeadlines(handOver, { waitedMs: 110_000, held }, groupOf(1), true)).toBe(handOver)
    for (const undoable of [true, false])
      expect(applyDeadlines(handOver, { waitedMs: 130_000, held }, groupOf(1), undoable)).toEqual({
        ...handOver,
        late: { code: 'replication', why: 'the stream does not flow yet, for more than 2 min now' },
      })
  })

  test('waits longer for clients, because the endpoint ends that wait by itself', () => {
    const held = { code: 'clients_busy', why: 'a request does not end' } as const
    expect(applyDeadlines(handOver, { waitedMs: 470_000, held }, groupOf(1), true)).toBe(handOver)
    expect(applyDeadlines(handOver, { waitedMs: 490_000, held }, groupOf(1), true)).toMatchObject({
      late: { code: 'clients_busy' },
    })
  })

  test('is named where the step counts as done each time', () => {
    expect(applyDeadlines(handOver, { waitedMs: 700_000 }, groupOf(1), false)).toMatchObject({
      late: {
        code: 'trouble',
        why: 'the step "Hand over" is tried again, and changes nothing (it is ready), for more than 10 min now',
      },
    })
  })
})

describe('a sharded upgrade of which one group has handed over', () => {
  const goal = goalOf({ groups: 2, homes: [1, 3] })
  /** Group 0 is led by its surge shard 9, with the old primary as standby. */
  const half = (
    change: (shard: ObservedDatabase['groups'][number]['shards'][number]) => object,
  ): ObservedDatabase => {
    const [first, second] = shardedOf(2, 0).groups
    if (first === undefined || second === undefined) throw new Error('there are two groups')
    const [one] = first.shards
    if (one?.engine == null) throw new Error('the shard answers')
    const surge = { ...one, id: 9, address: { host: '', port: 9 }, wanted: goal, revision: 'valkey-8.1.1+0' }
    const standby = {
      ...one,
      engine: { ...one.engine, role: 'replica', primary: surge.address, link: 'up' } as const,
      ...change(one),
    }
    return { groups: [{ ...first, shards: [standby, surge], recordedPrimary: 9 }, second] }
  }

  test('can be given up while the standby follows, and not once it does not', () => {
    expect(
      isUndoable(
        half(() => ({})),
        goal,
      ),
    ).toBe(true)
    expect(
      isUndoable(
        half(() => ({ engine: null })),
        goal,
      ),
    ).toBe(false)
  })

  test('cannot be given up once the standby could not carry out a command of its primary', () => {
    const erring = half((shard) => ({
      engine: {
        ...shard.engine,
        role: 'replica',
        primary: { host: '', port: 9 },
        link: 'up',
        errorReplies: 1,
      },
    }))
    expect(isUndoable(erring, goal)).toBe(false)
    expect(old.build.version).not.toBe(goal.build.version)
  })
})
