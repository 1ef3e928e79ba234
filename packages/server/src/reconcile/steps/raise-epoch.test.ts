import { createEffect, EngineUnreachable } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { databaseOf, shardOf } from '../../../test/records.ts'
import { tryingOn } from '../turn/engines.ts'
import { afterRefusal, raiseEpoch } from './raise-epoch.ts'

/** Shards 1 and 4 are primaries; `answers` by shard. */
function contextWith(answers: Readonly<Record<number, string>>) {
  const asked: string[] = []
  const connect = async (_: unknown, { id, host, port }: { id: number; host: string; port: number }) => ({
    address: { host, port },
    usable: true,
    info: async () => '',
    call: async (...words: readonly unknown[]) => {
      asked.push(`${id}: ${words.join(' ')}`)
      const answer = answers[id]
      if (answer === undefined) throw new EngineUnreachable('it has ended')
      return answer
    },
    [Symbol.dispose]: () => undefined,
  })
  const ports = { engines: { connect, tryOn: tryingOn(connect) }, effect: createEffect(() => undefined) }
  const groups = [1, 4].map((primaryShard, number) => ({
    number,
    primaryShard,
    history: null,
    slots: { first: 0, last: 16_383 },
  }))
  const everybody = [1, 2, 3, 4, 5].map((id) => shardOf(id))
  return { asked, context: { database: databaseOf({ groups, cluster: true }), everybody, ports } }
}

const asks = (...ids: readonly number[]) => ids.map((id) => `${id}: CLUSTER BUMPEPOCH`)

test('the epoch is raised at one follower of any group, and not at the successor itself', async () => {
  const { asked, context } = contextWith({ 1: 'BUMPED 7', 3: 'BUMPED 7', 4: 'BUMPED 7', 5: 'BUMPED 7' })
  await raiseEpoch(2, context)
  expect(asked).toEqual(asks(3))
})

test('if a follower has the highest epoch already, or is gone, another shard raises it, a primary at last', async () => {
  const { asked, context } = contextWith({ 3: 'STILL 6', 1: 'STILL 6', 4: 'BUMPED 7' })
  await raiseEpoch(2, context)
  expect(asked).toEqual(asks(3, 5, 1, 4))
})

test('an order that was late is given again, and raises nothing', async () => {
  const { asked, context } = contextWith({ 3: 'BUMPED 7' })
  expect(await afterRefusal(2, 'late', context)).toMatchObject({ kind: 'not yet', code: 'order_late' })
  expect(asked).toEqual([])
  expect(await afterRefusal(2, 'equal', context)).toMatchObject({ kind: 'not yet', code: 'cluster_view' })
  expect(asked).toEqual(asks(3))
})
