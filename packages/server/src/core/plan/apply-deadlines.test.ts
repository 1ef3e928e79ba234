import { describe, expect, test } from 'vitest'
import { goalOf, groupOf, old, shardedOf, undoOf } from '../../../test/simulation/group.ts'
import type { ObservedDatabase } from '../state/topology.ts'
import { applyDeadlines, isUndoable } from './apply-deadlines.ts'

test('only an action that can be undone is given up: an undo is never given up', () => {
  const hopeless = { kind: 'hopeless', code: 'cannot_read', why: 'so it is' } as const
  expect(applyDeadlines(hopeless, 0, groupOf(1), true).kind).toBe('hopeless')
  expect(applyDeadlines(hopeless, 0, groupOf(1), false).kind).toBe('stuck')
  expect(isUndoable({ groups: [groupOf(1)] }, goalOf())).toBe(true)
  expect(isUndoable({ groups: [groupOf(1)] }, undoOf(goalOf()))).toBe(false)
})

describe('waiting', () => {
  test('has an end: an upgrade that cannot link its surge shard is given up; after the handover a person is asked', () => {
    const wait = { kind: 'wait', shard: 3, code: 'replication', why: 'shard 3 connects to shard 1' } as const
    expect(applyDeadlines(wait, 1_000, groupOf(1), true).kind).toBe('wait')
    expect(applyDeadlines(wait, 31_000, groupOf(1), true).kind).toBe('hopeless')
    expect(applyDeadlines(wait, 31_000, groupOf(1), false).kind).toBe('stuck')
    expect(applyDeadlines(wait, 31_000, groupOf(1), true, '; try again')).toEqual({
      ...{
        kind: 'hopeless',
        code: 'replication',
        why: 'shard 3 connects to shard 1, for 31 s now; try again',
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
