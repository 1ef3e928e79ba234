import { expect, test } from 'vitest'
import { old, shardedOf } from '../../../test/simulation/group.ts'
import type { Lane } from '../state/lane.ts'
import type { ObservedDatabase, ObservedShard } from '../state/topology.ts'
import { rationJoins } from './ration-joins.ts'

/** In a cluster that has its 64 primaries already. */
const MOST_JOINING = 9

/**
 * Each group has its primary; the first groups have a replica, with these `changes`, and the others are to
 * get one.
 */
function creating(withReplica: number, changes: Partial<ObservedShard> = starting, of = 64) {
  const groups = shardedOf(of, 1).groups.map((group, n) => ({
    ...group,
    shards: group.shards
      .slice(0, n < withReplica ? 2 : 1)
      .map((shard, at) => ({ ...shard, ...(at === 1 && changes) })),
  }))
  const lanes = groups.map(({ group, shards: [primary, replica] }): Lane => {
    const why = 'the database is to have 1 replica(s)'
    if (primary === undefined || replica !== undefined) return { group, verdict: { kind: 'done' } }
    return { group, verdict: { kind: 'do', step: { kind: 'add-shard', runs: old, follow: primary.id, why } } }
  })
  return rationJoins(lanes, { groups } satisfies ObservedDatabase)
}
const starting = { process: 'starting', engine: null, revision: null } as const
const added = (lanes: readonly Lane[]) => lanes.filter(({ verdict }) => verdict.kind === 'do').length

test.each([
  [0, MOST_JOINING],
  [4, MOST_JOINING - 4],
  [MOST_JOINING, 0],
])('when 64 groups get replicas and %i of them are joining, %i more begin', (onTheirWay, more) => {
  const lanes = creating(onTheirWay)
  expect(added(lanes)).toBe(more)
  expect(lanes.at(-1)?.verdict).toMatchObject({
    kind: 'hold',
    code: 'other_groups',
    why: '9 shards are joining the cluster already, and the database is to have 1 replica(s)',
  })
})

/** It runs, and follows nothing: its engine has been up for so long. */
function unlinked(upSeconds: number): Partial<ObservedShard> {
  const [, replica] = shardedOf(1, 1).groups[0]?.shards ?? []
  if (replica === undefined || replica.engine === null) throw new Error('a replica runs')
  return { engine: { ...replica.engine, link: 'down', upSeconds } }
}

test.each([
  ['is linked', {}, 8],
  ['has died', { ...starting, process: 'failed' as const }, 8],
  ['has not linked for a minute', unlinked(60), 8],
  ['dies at each start', { ...starting, failsToStart: 'it cannot read its file' }, 8],
])('a replica that %s takes the place of no other', (_, changes, more) => {
  expect(added(creating(MOST_JOINING, changes))).toBe(more)
})

test('a replica that runs, and has not linked within its first minute, is still joining', () => {
  expect(added(creating(MOST_JOINING, unlinked(59)))).toBe(0)
})

test('of 24 groups all replicas join at once', () => {
  expect(added(creating(0, starting, 24))).toBe(24)
})
