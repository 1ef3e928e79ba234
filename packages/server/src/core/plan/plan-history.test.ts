import { describe, expect, test } from 'vitest'
import { goalOf, groupOf } from '../../../test/simulation/group.ts'
import {
  type Disk,
  type EngineState,
  isLive,
  type LiveShard,
  type ObservedGroup,
  type ObservedShard,
} from '../state/topology.ts'
import { violations } from './invariants.ts'
import { mayFollow, planRoles } from './plan-roles.ts'

function shardWith(change: Partial<EngineState>): LiveShard {
  const [shard] = groupOf(0).shards
  if (shard === undefined || !isLive(shard)) throw new Error('there is a shard that answers')
  return { ...shard, engine: { ...shard.engine, ...change } }
}

describe('a shard may follow a primary', () => {
  /** It was promoted at offset 100 of history a, and is now at 150 of its own. */
  const primary = shardWith({ role: 'primary', replid: 'b', replid2: 'a', secondOffset: 101, offset: 150 })

  test.each([
    ['at the same point of the same history', { replid: 'b', offset: 150 }, true],
    ['behind in the same history', { replid: 'b', offset: 1 }, true],
    ['not ahead in the same history', { replid: 'b', offset: 151 }, false],
    ['where the history branched', { replid: 'a', offset: 100 }, true],
    ['before the history branched', { replid: 'a', offset: 7 }, true],
    ['not one write after the branch', { replid: 'a', offset: 101 }, false],
    ['not from a history of its own', { replid: 'c', offset: 1 }, false],
    ['not because of its own second history', { replid: 'c', replid2: 'b', offset: 1 }, false],
    ['as a blank one, whatever it reports', { role: 'blank', replid: 'c', offset: 1_000 }, true],
  ] as const)('%s', (_, mine, may) => {
    expect(mayFollow(shardWith(mine), primary)).toBe(may)
  })
})

describe('a group without a primary', () => {
  const dead = (change: (seen: ObservedGroup) => ObservedGroup): ObservedGroup => {
    const seen = groupOf(2)
    const shards = seen.shards.map((shard) => {
      if (shard.id === 1 || !isLive(shard)) return { ...shard, process: 'exited' as const, engine: null }
      return { ...shard, engine: { ...shard.engine, link: 'down' as const, replid: 'a', offset: 100 } }
    })
    return change({ ...seen, shards, history: { replid: 'a', offset: 100, runId: null } })
  }
  const without = (id: number, process: 'starting' | 'running' | 'stopping') => (seen: ObservedGroup) => ({
    ...seen,
    shards: seen.shards.map((shard) => (shard.id === id ? { ...shard, process, engine: null } : shard)),
  })

  test('promotes at the very offset on record', () => {
    expect(
      planRoles(
        dead((seen) => seen),
        goalOf(),
      ),
    ).toMatchObject({ step: { kind: 'promote', shard: 2 } })
  })

  const behind = (disk: Partial<Disk>) =>
    dead((seen) => ({
      ...seen,
      history: { replid: 'a', offset: 101, runId: null },
      shards: seen.shards.map((shard) =>
        shard.id === 1 && shard.disk ? { ...shard, disk: { ...shard.disk, ...disk } } : shard,
      ),
    }))

  test('does not promote a shard that is one write behind it, but starts the last primary from a disk that has more', () => {
    expect(planRoles(behind({ aof: 'whole' }), goalOf())).toMatchObject({
      step: { kind: 'start-shard', shard: 1, follow: null },
    })
  })

  test('promotes a shard that is one write behind it where the disk of the last primary has less', () => {
    for (const disk of [{}, { snapshot: { replid: 'a', offset: 80 } }])
      expect(planRoles(behind(disk), goalOf())).toMatchObject({ step: { kind: 'promote', shard: 2 } })
  })

  test.each(['starting', 'running'] as const)(
    'waits for one that is %s and has only just fallen silent: it may know more',
    (process) => {
      expect(planRoles(dead(without(3, process)), goalOf())).toMatchObject({ kind: 'wait', shard: 3 })
    },
  )

  /** Shard 3 has more, and is changed like this. */
  const ahead = (change: Partial<ObservedShard>, engine: Partial<EngineState> = {}) =>
    dead((seen) => ({
      ...seen,
      shards: seen.shards.map((shard) =>
        shard.id === 3 && isLive(shard)
          ? { ...shard, engine: { ...shard.engine, offset: 103, ...engine }, ...change }
          : shard,
      ),
    }))
  const snapshot = { replid: 'a', offset: 103 }
  const disk = { lookedAt: 0, snapshot, aof: 'none', claim: null } as const

  test.each([
    ['is being stopped', ahead({ process: 'stopping' })],
    ['comes back', ahead({ process: 'starting', engine: null, disk })],
    ['loads its data', ahead({ disk }, { offset: 0, loading: true })],
  ] as const)('waits for one that is known to hold more, and %s', (_, seen) => {
    expect(planRoles(seen, goalOf())).toMatchObject({ kind: 'wait', shard: 3 })
  })

  test('promotes a shard that came back with more, but only beside another one that ran until the end', () => {
    const seen = ahead({}, { streamed: false })
    const step = { kind: 'promote', shard: 3, why: '' } as const
    expect(planRoles(seen, goalOf())).toMatchObject({ step: { kind: 'promote', shard: 3 } })
    expect(violations(seen, step)).toEqual([])
    const shards = seen.shards.map((shard): ObservedShard => {
      const own = { ...shard, disk: { ...disk, aof: 'whole' as const } }
      return shard.id === 1 ? own : isLive(own) ? { ...own, engine: { ...own.engine, streamed: false } } : own
    })
    expect(planRoles({ ...seen, shards }, goalOf())).toMatchObject({
      step: { kind: 'start-shard', shard: 1 },
    })
    expect(violations({ ...seen, shards }, step)).toHaveLength(1)
  })
})
