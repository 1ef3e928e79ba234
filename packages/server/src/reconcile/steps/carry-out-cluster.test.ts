import { EngineError, EngineUnreachable } from '@fairlead/engine'
import { describe, expect, test } from 'vitest'
import { groupOf } from '../../../test/simulation/group.ts'
import { isLive } from '../../core/state/topology.ts'
import type { Scene } from '../turn/scene.ts'
import { forgetFollower, forgetNode } from './carry-out-cluster.ts'

const step = { kind: 'forget-node', node: 'node-9', shards: [1, 2], why: '' } as const

/** Shard 1 obeys; shard 2 answers like this. */
function sceneWith(answer: () => Promise<string>) {
  const asked: string[] = []
  const connect = async (_: unknown, { id }: { id: number }) => ({
    call: async (...words: string[]) => {
      asked.push(`${id}: ${words.join(' ')}`)
      return id === 1 ? 'OK' : answer()
    },
  })
  const effect = <T>(_: string, work: () => Promise<T>) => work()
  // Only these parts of the scene are read.
  const scene = { everybody: [{ id: 1 }, { id: 2 }], deps: { engines: { connect }, effect } }
  return { asked, scene: scene as unknown as Scene }
}

test.each([
  ['knows nothing of it', new EngineError('ERR Unknown node node-9')],
  ['has ended meanwhile', new EngineUnreachable('connection refused')],
])('a node is forgotten by all who know it, and who %s is no obstacle', async (_, cause) => {
  const { scene, asked } = sceneWith(() => Promise.reject(cause))
  expect(await forgetNode(step, scene)).toEqual({ kind: 'done' })
  expect(asked).toEqual(['1: CLUSTER FORGET node-9', '2: CLUSTER FORGET node-9'])
})

test('a node that somebody will not forget is trouble', async () => {
  const { scene } = sceneWith(() => Promise.reject(new EngineError("ERR Can't forget my master!")))
  await expect(forgetNode(step, scene)).rejects.toThrow("Can't forget my master")
})

describe('a shard that leaves', () => {
  /** Shard 1 is the primary; both know each other as node-1 and node-2. */
  const leave = async (id: number, answer: () => Promise<string>, isKnown = true) => {
    const { scene, asked } = sceneWith(answer)
    const nodes = isKnown ? ['node-1', 'node-2'] : ['node-1']
    const group = groupOf(1)
    const shards = group.shards.map((shard) => {
      if (!isLive(shard)) return shard
      const known = nodes.map((node) => ({ id: node }))
      return {
        ...shard,
        engine: { ...shard.engine, cluster: { id: `node-${shard.id}`, serves: true, nodes: known } },
      }
    })
    const everybody = [{ id: 1 }, { id: 2 }, { id: 3 }]
    await forgetFollower(id, { ...scene, everybody, seen: { ...group, shards } } as unknown as Scene)
    return asked
  }

  test('is forgotten by all others, of its group and of the rest, and forgets them', async () => {
    expect(await leave(2, async () => 'OK')).toEqual([
      '1: CLUSTER FORGET node-2',
      '3: CLUSTER FORGET node-2',
      '2: CLUSTER FORGET node-1',
    ])
  })

  test.each([
    ['follows it', new EngineError("ERR Can't forget my master!")],
    ['has ended', new EngineUnreachable('connection refused')],
  ])('is no concern of one that %s', async (_, cause) => {
    expect(await leave(2, () => Promise.reject(cause))).toHaveLength(3)
  })

  test('is not forgotten twice, nor as long as it is a primary', async () => {
    expect(await leave(2, async () => 'OK', false)).toEqual([])
    expect(await leave(1, async () => 'OK')).toEqual([])
  })
})
