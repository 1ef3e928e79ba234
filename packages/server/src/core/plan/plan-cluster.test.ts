import { describe, expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { shardedOf } from '../../../test/simulation/group.ts'
import { lead } from '../../../test/simulation/lead.ts'
import { kill } from '../../../test/simulation/processes.ts'
import { runsOf } from '../../../test/simulation/runs.ts'
import { beginUpgrade, shapes } from '../../../test/simulation/upgrade.ts'
import { membersOf } from '../../../test/simulation/world.ts'
import { type ClusterNode, isLive, type ObservedDatabase, type ObservedGroup } from '../state/topology.ts'
import { planCluster, planIntroduction, planWhole } from './plan-cluster.ts'

const sharded = shapes.filter(({ groups }) => groups > 1)

describe('in cluster mode', () => {
  test('in the end every shard knows every other and no foreign node, whichever was killed on the way', async () => {
    await fc.assert(
      fc.asyncProperty(sharded, fc.boolean(), async (shape, accident) => {
        const { action, pick } = beginUpgrade(shape)
        let kills = accident ? 2 : 0
        const end = await lead(action, {
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
      runsOf(25),
    )
  })

  // invariant: No shard of a database is ever forgotten by the others while it belongs to it.
  test('no shard of the database is ever forgotten, not even while it does not answer', async () => {
    await fc.assert(
      fc.asyncProperty(sharded, async (shape) => {
        const { action } = beginUpgrade(shape)
        await lead(action, {
          step: (_, step) => {
            if (step.kind !== 'forget-node') return
            expect(membersOf(action.world).map(({ id }) => `node-${id}`)).not.toContain(step.node)
          },
        })
      }),
      runsOf(20),
    )
  })
})

describe('the membership of two groups', () => {
  const seen = shardedOf(2, 1)
  const stranger: ClusterNode = {
    id: 'node-9',
    address: { host: '', port: 9 },
    handshake: false,
    primary: null,
    epoch: 9,
    slots: '',
  }
  const change = (
    { groups }: ObservedDatabase,
    id: number,
    nodes: (nodes: readonly ClusterNode[]) => readonly ClusterNode[] | null,
  ): ObservedDatabase => ({
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

  const groupIn = ({ groups }: ObservedDatabase, number: number) => {
    const group = groups[number]
    if (group === undefined) throw new Error(`there is no group ${number}`)
    return group
  }
  const ownGroup = <T>(plan: (own: ObservedGroup, at: ObservedDatabase) => T, at: ObservedDatabase) =>
    plan(groupIn(at, 0), at)

  test('asks for nothing while all know each other', () => {
    expect(planCluster(seen).size).toBe(0)
  })

  test('has another primary introduced by the first, and a replica by its own primary', () => {
    expect(planCluster(change(seen, 1, without('node-3'))).get(1)).toMatchObject({
      step: { kind: 'meet', greetings: [{ by: 1, to: 3 }] },
    })
    expect(planCluster(change(seen, 3, without('node-4'))).get(1)).toMatchObject({
      step: { kind: 'meet', greetings: [{ by: 3, to: 4 }] },
    })
  })

  test('introduces a shard to a primary again that it was told to forget, although that primary still knows the shard', () => {
    expect(planCluster(change(seen, 3, without('node-1'))).get(1)).toMatchObject({
      step: { kind: 'meet', greetings: [{ by: 3, to: 1 }] },
    })
    expect(planCluster(change(seen, 1, without('node-3'))).get(1)).toMatchObject({
      step: { kind: 'meet', greetings: [{ by: 1, to: 3 }] },
    })
    expect(planCluster(change(seen, 2, without('node-1'))).get(0)).toMatchObject({
      step: { kind: 'meet', greetings: [{ by: 2, to: 1 }] },
    })
  })

  const asBlank = ({ groups }: ObservedDatabase, id: number): ObservedDatabase => ({
    groups: groups.map((group) => ({
      ...group,
      shards: group.shards.map((shard) =>
        shard.id === id && isLive(shard)
          ? { ...shard, engine: { ...shard.engine, role: 'blank' as const } }
          : shard,
      ),
    })),
  })

  test('has its primary greet a blank shard again that has lost its view of the cluster, once', () => {
    const lost = asBlank(change(seen, 2, without('node-1', 'node-3', 'node-4')), 2)
    expect(planCluster(lost).get(0)).toMatchObject({
      step: { kind: 'meet', greetings: [{ by: 1, to: 2 }] },
    })
    const greeted = { ...stranger, id: 'random', address: { host: '', port: 2 }, handshake: true }
    expect(planCluster(change(lost, 1, and(greeted))).size).toBe(0)
  })

  test('does not introduce a shard that was introduced just now', () => {
    const greeted = { ...stranger, id: 'random', address: { host: '', port: 3 }, handshake: true }
    expect(planCluster(change(change(seen, 1, without('node-3')), 1, and(greeted))).size).toBe(0)
  })

  test('makes all shards forget a stranger that they know, in one step', () => {
    const known = change(change(seen, 2, and(stranger)), 4, and(stranger))
    expect(planCluster(known).get(0)).toMatchObject({
      step: { kind: 'forget-node', node: 'node-9', shards: [2, 4] },
    })
  })

  test('spares a shard that does not answer, but not the node that was at its address before', () => {
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

  test('does not tell a shard to forget its primary', () => {
    const followed = { ...stranger, id: 'node-0', address: { host: '', port: 1 } }
    // Shards 2 and 3 know it; 2 follows shard 1, which is at that address now.
    const known = change(change(seen, 2, and(followed)), 3, and(followed))
    expect(planCluster(known).get(0)).toMatchObject({ step: { node: 'node-0', shards: [3] } })
  })

  test('introduces shards at once if gossip would be slow, once for each pair', () => {
    expect(ownGroup(planWhole, seen)).toBeUndefined()
    const strange = change(change(seen, 1, without('node-3')), 3, without('node-1'))
    expect(ownGroup(planWhole, strange)).toMatchObject({
      step: { kind: 'meet', greetings: [{ by: 1, to: 3 }] },
    })
    expect(planWhole(groupIn(strange, 1), strange)).toMatchObject({ kind: 'wait', shard: 3 })
    const oneSided = change(seen, 3, without('node-1'))
    expect(planWhole(groupIn(oneSided, 1), oneSided)).toMatchObject({
      step: { kind: 'meet', greetings: [{ by: 3, to: 1 }] },
    })
  })

  test('leaves a blank shard to its own primary', () => {
    const met = asBlank(change(seen, 1, without('node-4')), 4)
    expect(ownGroup(planWhole, met)).toMatchObject({ kind: 'wait', shard: 1 })
  })

  describe('before shard 2 takes over from shard 1', () => {
    const introduce = (at: ObservedDatabase) =>
      planIntroduction({ kind: 'hand-over', from: 1, to: 2, why: '' }, groupIn(at, 0), at)
    const as = (id: string, news: Partial<ClusterNode>) => (nodes: readonly ClusterNode[]) =>
      nodes.map((node) => (node.id === id ? { ...node, ...news } : node))

    test('a shard that knows another one does not greet it', () => {
      expect(introduce(seen)).toBeUndefined()
    })

    test.each([
      ['a primary does not know it', 3, without('node-2'), { by: 2, to: 3 }],
      ['a primary does not know its primary', 3, as('node-2', { primary: null }), { by: 2, to: 3 }],
      ['its own primary does not', 1, as('node-2', { primary: null }), { by: 2, to: 1 }],
      ['it has not heard which slots a primary has', 2, as('node-3', { slots: '0-1' }), { by: 3, to: 2 }],
      ['it has old news of its own primary', 2, as('node-1', { epoch: 0 }), { by: 1, to: 2 }],
    ])('%s: a greeting tells', (_, id, nodes, greeting) => {
      expect(introduce(change(seen, id, nodes))).toMatchObject({
        step: { kind: 'meet', greetings: [greeting] },
      })
    })

    test('what it does not know of a primary, or knows differently, is told to people', () => {
      const why = (nodes: (known: readonly ClusterNode[]) => readonly ClusterNode[]) =>
        introduce(change(seen, 2, nodes))
      const step = (words: string) => ({ step: { why: expect.stringContaining(words) } })
      expect(why(as('node-1', { epoch: 0 }))).toMatchObject(step('of epoch 0)'))
      expect(why(without('node-3'))).toMatchObject(step('unknown to it)'))
    })

    test('a replica of another group may know nothing', () => {
      expect(introduce(change(seen, 4, () => []))).toBeUndefined()
    })

    test('a greeting that is on its way is waited for', () => {
      const greeted = { ...stranger, address: { host: '', port: 3 }, handshake: true }
      const unaware = change(change(seen, 3, without('node-2')), 2, and(greeted))
      expect(introduce(unaware)).toMatchObject({ kind: 'wait', shard: 2 })
    })
  })
})
