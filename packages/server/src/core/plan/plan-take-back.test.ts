import { describe, expect, test } from 'vitest'
import { goalOf, shardedOf } from '../../../test/simulation/group.ts'
import type { Lane } from '../state/lane.ts'
import { unrestricted } from '../state/orders.ts'
import type {
  ClusterNode,
  EngineState,
  ObservedDatabase,
  ObservedGroup,
  ObservedShard,
} from '../state/topology.ts'
import { guardTakeovers, planDatabase } from './plan-database.ts'
import { planRoles } from './plan-roles.ts'

const history = { replid: 'ours', offset: 100, runId: null }
const stranger: ClusterNode = {
  id: 'node-99',
  address: { host: '', port: 99 },
  handshake: false,
  primary: null,
  epoch: 1_000,
  slots: '0-16383',
}
/** Two groups: shards 1 and 2, 3 and 4. Each shard has its slots, and the history on record. */
const whole: ObservedDatabase = {
  groups: shardedOf(2, 1).groups.map((group) => ({
    ...group,
    history,
    shards: group.shards.map((shard) => inform(shard, { replid: 'ours', offset: 100 })),
  })),
}

function inform(
  shard: ObservedShard,
  news: Partial<EngineState>,
  node: Partial<ClusterNode> = {},
): ObservedShard {
  const { engine } = shard
  if (engine?.cluster == null) throw new Error(`shard ${shard.id} is not in cluster mode`)
  const nodes = [
    ...engine.cluster.nodes.map((one) => (one.id === `node-${shard.id}` ? { ...one, ...node } : one)),
    ...(node.primary === stranger.id ? [stranger] : []),
  ]
  return { ...shard, engine: { ...engine, cluster: { ...engine.cluster, nodes }, ...news } }
}

function groupWith(
  changes: Readonly<Record<number, (shard: ObservedShard) => ObservedShard>>,
): ObservedGroup {
  const [group] = whole.groups
  if (group === undefined) throw new Error('there is no group')
  return { ...group, shards: group.shards.map((shard) => changes[shard.id]?.(shard) ?? shard) }
}

const astray =
  (news: Partial<EngineState> = {}) =>
  (shard: ObservedShard) =>
    inform(shard, { role: 'replica', primary: stranger.address, ...news }, { primary: stranger.id })
const goal = goalOf({ cluster: true, groups: 2 })
const converge = (group: ObservedGroup) => planRoles(group, goal)

describe('a group whose slots were taken', () => {
  test('takes back its own slots from the stranger, by the shard on record', () => {
    expect(converge(groupWith({ 1: astray(), 2: astray() }))).toMatchObject({
      kind: 'do',
      step: { kind: 'take-back', shard: 1, slots: { first: 0, last: 8_191 } },
    })
  })

  test('does so by a replica if the last primary is gone, or has the data of the stranger', () => {
    const emptied = astray({ replid: 'strange' })
    const gone = (shard: ObservedShard): ObservedShard => ({ ...shard, process: 'exited', engine: null })
    for (const first of [emptied, gone])
      expect(converge(groupWith({ 1: first, 2: astray() }))).toMatchObject({
        step: { kind: 'take-back', shard: 2 },
      })
  })

  test('does so over TLS, too, where engines report another port of the node that they follow: they are not told to forget it, which they refuse', () => {
    const overTls = astray({ primary: { host: '', port: 199 } })
    const [, other] = whole.groups
    const groups = [groupWith({ 1: overTls, 2: overTls }), ...(other === undefined ? [] : [other])]
    const [first] = planDatabase({ groups }, goal, unrestricted)
    expect(first?.verdict).toMatchObject({ kind: 'do', step: { kind: 'take-back', shard: 1 } })
  })

  test('waits for a person if no shard holds what is on record', () => {
    const less = astray({ offset: 99 })
    for (const lost of [astray({ replid: 'strange' }), less, astray({ loading: true })])
      expect(converge(groupWith({ 1: lost, 2: lost }))).toMatchObject({
        kind: 'stuck',
        why: expect.stringMatching(/slots 0-8191 were taken by node node-99 at :99.*a person has to decide/),
      })
  })

  test('waits for a shard that does not answer', () => {
    const silent = (shard: ObservedShard): ObservedShard => ({ ...shard, engine: null })
    expect(converge(groupWith({ 1: silent, 2: astray() }))).toMatchObject({ kind: 'wait', shard: 1 })
  })

  test('makes a replica with the data of the stranger follow the primary, but not one with writes of its own', () => {
    const other = astray({ replid: 'strange' })
    expect(converge(groupWith({ 2: other }))).toMatchObject({
      step: { kind: 'follow', shard: 2, primary: 1 },
    })
    const ahead = astray({ offset: 101 })
    expect(converge(groupWith({ 2: ahead }))).toMatchObject({ kind: 'stuck' })
  })
})

test('a primary that has lost some of its slots is stuck: their keys are gone', () => {
  const less = (shard: ObservedShard) => inform(shard, {}, { slots: '2001-8191' })
  expect(converge(groupWith({ 1: less }))).toMatchObject({
    kind: 'stuck',
    why: expect.stringMatching(/shard 1 has lost slots 0-2000 of its group/),
  })
  const all = (shard: ObservedShard) => inform(shard, {}, { slots: '0-8191' })
  expect(converge(groupWith({ 1: all }))).toMatchObject({ primary: { id: 1 } })
})

describe('while a stranger has slots of a group', () => {
  const knowing = (slots: string): ObservedDatabase => ({
    groups: whole.groups.map((group) => ({
      ...group,
      shards: group.shards.map((shard) =>
        shard.id === 4 && shard.engine?.cluster != null
          ? inform(shard, {
              cluster: {
                ...shard.engine.cluster,
                nodes: [...shard.engine.cluster.nodes, { ...stranger, slots }],
              },
            })
          : shard,
      ),
    })),
  })
  const lanes: readonly Lane[] = [
    { group: 0, verdict: { kind: 'do', step: { kind: 'promote', shard: 2, why: '' } } },
    { group: 1, verdict: { kind: 'do', step: { kind: 'hand-over', from: 3, to: 4, why: '' } } },
  ]

  test('no role of that group moves, and others do', () => {
    expect(guardTakeovers(lanes, knowing('0-5'))).toMatchObject([
      { verdict: { kind: 'wait', shard: 2, why: expect.stringMatching(/node-99.*no role moves/) } },
      lanes[1],
    ])
    expect(guardTakeovers(lanes, knowing('16383'))).toMatchObject([
      lanes[0],
      { verdict: { kind: 'wait', shard: 4 } },
    ])
    expect(guardTakeovers(lanes, knowing(''))).toEqual(lanes)
  })

  test('unplanned moves of roles happen in one group at a time', () => {
    const promotion: Lane = {
      group: 1,
      verdict: { kind: 'do', step: { kind: 'promote', shard: 4, why: '' } },
    }
    const two = [...lanes.slice(0, 1), promotion]
    expect(guardTakeovers(two, whole)).toMatchObject([two[0], { verdict: { kind: 'hold', on: 'group' } }])
  })
})
