import { expect, test } from 'vitest'
import { goalOf, shardedOf } from '../../../test/simulation/group.ts'
import type { Lane } from '../state/lane.ts'
import { unrestricted } from '../state/orders.ts'
import { type ClusterNode, isLive, type ObservedDatabase } from '../state/topology.ts'
import { planDatabase } from './plan-database.ts'
import { LEAST_GREETINGS, MOST_GREETINGS } from './ration-greetings.ts'

const groups = 64
const goal = goalOf({ cluster: true, groups, replicas: 0, homes: [] })
const onOld = { ...goal, build: { flavour: 'redis' as const, version: '7.0.15' }, from: null }

/** What each shard knows, from what all know. */
function knowing(
  change: (nodes: readonly ClusterNode[], id: number) => readonly ClusterNode[],
): ObservedDatabase {
  const seen = shardedOf(groups, 0)
  return {
    groups: seen.groups.map((group) => ({
      ...group,
      shards: group.shards.map((shard) => {
        if (!isLive(shard) || shard.engine.cluster === null) return shard
        const cluster = { ...shard.engine.cluster, nodes: change(shard.engine.cluster.nodes, shard.id) }
        return { ...shard, engine: { ...shard.engine, cluster } }
      }),
    })),
  }
}

// All know the first shard, and it knows all; gossip has spread nothing else yet.
const strange = knowing((nodes, id) =>
  id === 1 ? nodes : nodes.filter((node) => node.id === 'node-1' || node.id === `node-${id}`),
)

const greetingsIn = (lanes: readonly Lane[]) =>
  lanes.reduce(
    (sum, { verdict }) =>
      sum + (verdict.kind === 'do' && verdict.step.kind === 'meet' ? verdict.step.greetings.length : 0),
    0,
  )

// invariant: Shards of many groups join a few at a time.
test('64 groups do not introduce all their shards at once, and a group without room says so', () => {
  const lanes = planDatabase(strange, onOld, unrestricted)
  expect(greetingsIn(lanes)).toBe(MOST_GREETINGS)
  expect(lanes.filter(({ verdict }) => verdict.kind === 'hold').length).toBeGreaterThan(50)
})

test('introductions that are on their way count, and a few more go on even when the limit is reached', () => {
  const handshake = { handshake: true, primary: null, epoch: 0, slots: '' }
  const busy = (port: number) => ({
    groups: strange.groups.map((group) => ({
      ...group,
      shards: group.shards.map((shard) => {
        if (!isLive(shard) || shard.engine.cluster === null || shard.id > 60) return shard
        const node = { ...handshake, id: `random-${shard.id}`, address: { host: '', port } }
        const cluster = { ...shard.engine.cluster, nodes: [...shard.engine.cluster.nodes, node] }
        return { ...shard, engine: { ...shard.engine, cluster } }
      }),
    })),
  })
  expect(greetingsIn(planDatabase(busy(64), onOld, unrestricted))).toBe(LEAST_GREETINGS)
  // Nothing answers at that address: engines keep trying, which does not count.
  expect(greetingsIn(planDatabase(busy(9_999), onOld, unrestricted))).toBe(MOST_GREETINGS)
})

test('surge shards of 64 groups join a few at a time, unless the request says how many', () => {
  const seen = shardedOf(groups, 0)
  const surging = (parallel: number) => {
    const policy = { ...goal.policy, canary: false, parallel }
    const lanes = planDatabase(seen, { ...goal, policy }, unrestricted)
    return lanes.filter(({ verdict }) => verdict.kind === 'do' && verdict.step.kind === 'add-shard').length
  }
  expect([surging(0), surging(3), surging(20)]).toEqual([9, 3, 20])
})
