import { EngineError, EngineUnreachable } from '@fairlead/engine'
import { expect, test } from 'vitest'
import type { Scene } from '../turn/scene.ts'
import { forgetNode } from './carry-out-cluster.ts'

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
