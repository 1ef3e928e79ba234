import { expect, test } from 'vitest'
import { shardedOf } from '../../../test/simulation/group.ts'
import type { Lane } from '../state/lane.ts'
import type { ObservedDatabase } from '../state/topology.ts'
import { rationDepartures } from './ration-departures.ts'

/** Of 128 nodes, 64 of which stay. */
const MOST_LEAVING = 9

/** The follower of each group is to leave; those of the first groups are leaving already. */
function going(
  onTheirWay: number,
  of = 64,
): { readonly seen: ObservedDatabase; readonly lanes: readonly Lane[] } {
  const { groups } = shardedOf(of, 1)
  const followerOf = (n: number) => groups[n]?.shards[1]?.id ?? 0
  const seen = {
    groups: groups.map((group, n) => ({
      ...group,
      shards: group.shards.map((shard) => ({
        ...shard,
        leaving: n < onTheirWay && shard.id === followerOf(n),
      })),
    })),
  }
  const lanes = groups.map(({ group }, n): Lane => {
    const step = { kind: 'retire-shard', shard: followerOf(n), why: 'it is no longer needed' } as const
    return { group, verdict: { kind: 'do', step } }
  })
  return { seen, lanes }
}

const begunIn = (lanes: readonly Lane[]) => lanes.filter(({ verdict }) => verdict.kind === 'do').length

test.each([
  [0, MOST_LEAVING],
  [3, MOST_LEAVING - 3],
  [MOST_LEAVING, 1],
  [20, 1],
])('with %i followers on their way, %i more may leave, and those on their way go on', (onTheirWay, more) => {
  const { seen, lanes } = going(onTheirWay)
  const rationed = rationDepartures(lanes, seen)
  expect(begunIn(rationed)).toBe(onTheirWay + more)
  expect(rationed.at(-1)?.verdict).toMatchObject({
    kind: 'hold',
    why: expect.stringContaining('no longer needed'),
  })
})

test('of 24 groups without replicas, all old primaries leave at once', () => {
  const { seen, lanes } = going(0, 24)
  expect(begunIn(rationDepartures(lanes, seen))).toBe(24)
})

test('a shard that is not known to be a follower waits for no other', () => {
  const { seen, lanes } = going(20)
  const silent = {
    groups: seen.groups.map((group) => ({
      ...group,
      shards: group.shards.map((shard) => ({ ...shard, engine: null })),
    })),
  }
  expect(begunIn(rationDepartures(lanes, silent))).toBe(64)
})
