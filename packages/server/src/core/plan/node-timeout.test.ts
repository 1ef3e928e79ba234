import { expect, test } from 'vitest'
import { shardedOf } from '../../../test/simulation/group.ts'
import { NODE_TIMEOUTS_MS } from '../state/node-timeouts.ts'
import { isLive } from '../state/topology.ts'
import { nodeTimeout, planNodeTimeouts } from './node-timeout.ts'

test.each([
  [1, 5_000],
  [35, 5_000],
  [36, 10_240],
  [48, 10_240],
  [64, 20_480],
  [96, 40_960],
  [128, 59_904],
  [400, 59_904],
])('%i nodes get a timeout of %i ms', (nodes, ms) => {
  expect(nodeTimeout(nodes)).toBe(ms)
})

// invariant: More nodes do not ping each other more often than a bound.
test('more nodes never get a shorter timeout, and up to 128 of them do not ping each other more than 550 times a second', () => {
  const all = Array.from({ length: 300 }, (_, nodes) => nodeTimeout(nodes))
  expect(all).toEqual(all.toSorted((a, b) => a - b))
  expect(new Set(all)).toEqual(new Set(NODE_TIMEOUTS_MS))
  for (let nodes = 0; nodes <= 128; nodes++)
    expect((nodes * (nodes - 1)) / (nodeTimeout(nodes) / 2_000)).toBeLessThan(550)
})

/** 64 groups with a replica each; this many shards have just started. */
function begun(many: number) {
  const { groups } = shardedOf(64, 1)
  return {
    groups: groups.map((group) => ({
      ...group,
      shards: group.shards.map((shard) =>
        isLive(shard) && shard.id <= many ? { ...shard, engine: { ...shard.engine, upSeconds: 9 } } : shard,
      ),
    })),
  }
}

test.each([
  [0, 128],
  [1, 127],
  [16, 112],
  [17, 128],
  [128, 128],
])('with %i shards that have just begun, %i are told how often to ping', (young, told) => {
  const { shards, ms } = planNodeTimeouts(begun(young))
  expect(shards).toHaveLength(told)
  expect(ms).toBe(59_904)
})
