import { createEffect, EngineError, EngineUnreachable } from '@fairlead/engine'
import { describe, expect, test } from 'vitest'
import { databaseOf, shardOf } from '../../../test/records.ts'
import { groupOf } from '../../../test/simulation/group.ts'
import { isLive } from '../../core/state/topology.ts'
import { tryingOn } from '../turn/engines.ts'
import { assignSlots, forgetFollower, forgetNode } from './carry-out-cluster.ts'

const step = { kind: 'forget-node', node: 'node-9', shards: [1, 2], why: '' } as const

/** Shard 1 obeys; shard 2 gives this answer. */
function contextWith(answer: () => Promise<string>) {
  const asked: string[] = []
  const connect = async (_: unknown, { id, host, port }: { id: number; host: string; port: number }) => ({
    address: { host, port },
    usable: true,
    info: async () => '',
    call: async (...words: readonly unknown[]) => {
      asked.push(`${id}: ${words.join(' ')}`)
      return id === 1 ? 'OK' : answer()
    },
    [Symbol.dispose]: () => undefined,
  })
  const ports = { engines: { connect, tryOn: tryingOn(connect) }, effect: createEffect(() => undefined) }
  return { asked, context: { database: databaseOf(), everybody: [shardOf(1), shardOf(2)], ports } }
}

test.each([
  ['knows nothing of it', new EngineError('ERR Unknown node node-9')],
  ['has ended meanwhile', new EngineUnreachable('connection refused')],
])('a node is forgotten by all that know it, and a shard that %s is no obstacle', async (_, cause) => {
  const { context, asked } = contextWith(() => Promise.reject(cause))
  expect(await forgetNode(step, context)).toEqual({ kind: 'done' })
  expect(asked).toEqual(['1: CLUSTER FORGET node-9', '2: CLUSTER FORGET node-9'])
})

test('a node that a shard refuses to forget is trouble', async () => {
  const { context } = contextWith(() => Promise.reject(new EngineError("ERR Can't forget my master!")))
  await expect(forgetNode(step, context)).rejects.toThrow("Can't forget my master")
})

test.each([
  [
    'knows others already',
    new EngineError(
      'ERR The user can assign a config epoch only when the node does not know any other node.',
    ),
  ],
  ['has one', new EngineError('ERR Node config epoch is already non-zero')],
])('a shard gets an epoch of its own before its slots, and slots also if it %s', async (_, cause) => {
  const answers = [Promise.reject(cause), Promise.resolve('OK')]
  const { context, asked } = contextWith(() => answers.shift() ?? Promise.resolve(''))
  const slots = { kind: 'assign-slots', shard: 2, slots: { first: 5, last: 6 }, why: '' } as const
  expect(await assignSlots(slots, { ...context, everybody: [shardOf(1), shardOf(2, { group: 3 })] })).toEqual(
    {
      kind: 'done',
    },
  )
  expect(asked).toEqual(['2: CLUSTER SET-CONFIG-EPOCH 4', '2: CLUSTER ADDSLOTS 5 6'])
})

describe('a shard that leaves', () => {
  /** Shard 1 is the primary; both know each other as node-1 and node-2. */
  const leave = async (id: number, answer: () => Promise<string>, isKnown = true) => {
    const { context, asked } = contextWith(answer)
    const nodes = isKnown ? ['node-1', 'node-2'] : ['node-1']
    const group = groupOf(1)
    const shards = group.shards.map((shard) => {
      if (!isLive(shard)) return shard
      const known = nodes.map((id) => ({
        id,
        address: { host: '', port: 0 },
        primary: null,
        handshake: false,
        epoch: 0,
        slots: '',
      }))
      return {
        ...shard,
        engine: { ...shard.engine, cluster: { id: `node-${shard.id}`, serves: true, nodes: known } },
      }
    })
    const everybody = [1, 2, 3].map((each) => shardOf(each))
    await forgetFollower(id, { ...context, everybody, seen: { ...group, shards } })
    return asked
  }

  test('is forgotten by all others, of its group and of the rest, and forgets none of them', async () => {
    expect(await leave(2, async () => 'OK')).toEqual(['1: CLUSTER FORGET node-2', '3: CLUSTER FORGET node-2'])
  })

  test.each([
    ['follows it', new EngineError("ERR Can't forget my master!")],
    ['has ended', new EngineUnreachable('connection refused')],
  ])('is not waited for by a shard that %s', async (_, cause) => {
    expect(await leave(2, () => Promise.reject(cause))).toHaveLength(2)
  })

  test('is not forgotten twice, nor as long as it is a primary', async () => {
    expect(await leave(2, async () => 'OK', false)).toEqual([])
    expect(await leave(1, async () => 'OK')).toEqual([])
  })
})
