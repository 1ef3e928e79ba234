import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { planCluster } from './plan-cluster.ts'
import { lead } from './test-action.ts'
import { shardedOf } from './test-group.ts'
import { beginUpgrade, shapes } from './test-upgrade.ts'
import { kill, membersOf } from './test-world.ts'
import { type ClusterNode, isLive, type SeenDatabase } from './topology.ts'

const sharded = shapes.filter(({ groups }) => groups > 1)

describe('in cluster mode', () => {
  test('everybody knows everybody and nobody else in the end, whoever was killed on the way', () => {
    fc.assert(
      fc.property(sharded, fc.boolean(), (shape, accident) => {
        const { action, pick } = beginUpgrade(shape)
        let kills = accident ? 2 : 0
        const end = lead(action, {
          events: ({ world }) => {
            const followers = membersOf(world).filter(({ engine }) => engine?.role === 'replica')
            const victim = followers[pick(Math.max(1, followers.length))]
            if (kills === 0 || victim === undefined || pick(10) > 0) return
            kills -= 1
            kill(world, victim)
          },
        })
        if (end.kind !== 'done') return
        const everybody = membersOf(action.world).map(({ id }) => id)
        for (const { engine } of membersOf(action.world)) {
          expect([...(engine?.known ?? [])].toSorted((a, b) => a - b)).toEqual(
            everybody.toSorted((a, b) => a - b),
          )
          expect(engine?.greeted.size).toBe(0)
        }
      }),
      { numRuns: 35 },
    )
  })

  test('nobody of the database is ever forgotten, also not while it does not answer', () => {
    fc.assert(
      fc.property(sharded, (shape) => {
        const { action } = beginUpgrade(shape)
        lead(action, {
          step: (_, step) => {
            if (step.kind !== 'forget-node') return
            expect(membersOf(action.world).map(({ id }) => `node-${id}`)).not.toContain(step.node)
          },
        })
      }),
      { numRuns: 30 },
    )
  })
})

describe('the membership of two groups', () => {
  const seen = shardedOf(2, 1)
  const stranger: ClusterNode = {
    ...{ id: 'node-9', address: { host: '', port: 9 }, handshake: false, epoch: 9, slots: '' },
  }
  const change = (
    { groups }: SeenDatabase,
    id: number,
    nodes: (nodes: readonly ClusterNode[]) => readonly ClusterNode[] | null,
  ): SeenDatabase => ({
    groups: groups.map((group) => ({
      ...group,
      shards: group.shards.map((shard) => {
        if (shard.id !== id || !isLive(shard) || shard.engine.cluster === null) return shard
        const known = nodes(shard.engine.cluster.nodes)
        if (known === null) return { ...shard, engine: null }
        return { ...shard, engine: { ...shard.engine, cluster: { ...shard.engine.cluster, nodes: known } } }
      }),
    })),
  })
  const without =
    (...ids: string[]) =>
    (nodes: readonly ClusterNode[]) =>
      nodes.filter(({ id }) => !ids.includes(id))
  const and = (node: ClusterNode) => (nodes: readonly ClusterNode[]) => [...nodes, node]

  test('asks for nothing while all know each other', () => {
    expect(planCluster(seen).size).toBe(0)
  })

  test('has another primary introduced by the first, and a replica by its own primary', () => {
    expect(planCluster(change(seen, 1, without('node-3'))).get(1)).toMatchObject({
      step: { kind: 'meet', shard: 3, anchor: 1 },
    })
    expect(planCluster(change(seen, 3, without('node-4'))).get(1)).toMatchObject({
      step: { kind: 'meet', shard: 4, anchor: 3 },
    })
  })

  test('does not introduce whom somebody was introduced to just now', () => {
    const greeted = { id: 'random', address: { host: '', port: 3 }, handshake: true, epoch: 0, slots: '' }
    expect(planCluster(change(change(seen, 1, without('node-3')), 1, and(greeted))).size).toBe(0)
  })

  test('has a stranger forgotten by all who know it, in one go', () => {
    const known = change(change(seen, 2, and(stranger)), 4, and(stranger))
    expect(planCluster(known).get(0)).toMatchObject({
      step: { kind: 'forget-node', node: 'node-9', shards: [2, 4] },
    })
  })

  test('spares a shard that does not answer, and not who stood at its address before', () => {
    expect(planCluster(change(seen, 4, () => null)).size).toBe(0)
    const former = { ...stranger, address: { host: '', port: 4 } }
    expect(
      planCluster(
        change(
          change(seen, 4, () => null),
          1,
          and(former),
        ),
      ).size,
    ).toBe(0)
    expect(planCluster(change(seen, 1, and(former))).get(0)).toMatchObject({ step: { node: 'node-9' } })
  })

  test('does not tell a shard to forget whom it follows', () => {
    const followed = { ...stranger, id: 'node-0', address: { host: '', port: 1 } }
    // Shards 2 and 3 know it; 2 follows shard 1, which stands at that address now.
    const known = change(change(seen, 2, and(followed)), 3, and(followed))
    expect(planCluster(known).get(0)).toMatchObject({ step: { node: 'node-0', shards: [3] } })
  })
})
