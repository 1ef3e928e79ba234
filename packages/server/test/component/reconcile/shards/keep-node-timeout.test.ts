import { createEffect } from '@fairlead/engine'
import { expect, test } from 'vitest'
import type { Database } from '../../../../src/core/state/database.ts'
import { keepNodeTimeout } from '../../../../src/reconcile/shards/keep-node-timeout.ts'
import { tryingOn } from '../../../../src/reconcile/turn/engines.ts'
import { createTurnMemory } from '../../../../src/reconcile/turn/turn-memory.ts'
import { builds, startTestEngine } from '../../../engine.ts'
import { shardedOf } from '../../../simulation/group.ts'

const SETTING = 'cluster-node-timeout'
const database = { uid: 7, cluster: true } as Database

test.each(builds)(
  'a running shard gets the node timeout for the size of its cluster, unless a person has set one: $flavour $version',
  async (build) => {
    await using engine = await startTestEngine(build, ['cluster-enabled yes', `${SETTING} 5000`])
    const engines = { tryOn: tryingOn(async () => engine.admin) }
    const effect = createEffect(() => undefined)
    const keptWith = async (groups: number) => {
      await keepNodeTimeout(database, shardedOf(groups, 0), { engines, effect }, createTurnMemory())
      const reply = await engine.admin.call('CONFIG', 'GET', SETTING)
      return Array.isArray(reply) ? reply[1] : reply
    }
    expect(await keptWith(3)).toBe('5000')
    expect(await keptWith(64)).toBe('20480')
    expect(await keptWith(128)).toBe('59904')
    expect(await keptWith(3)).toBe('5000')
    await engine.admin.call('CONFIG', 'SET', SETTING, '15000')
    expect(await keptWith(128)).toBe('15000')
  },
)

test('no more than sixteen shards in a turn are told, and all of them in the end', async () => {
  const seen = shardedOf(64, 0)
  const asked: number[] = []
  const tryOn = tryingOn(async (_, { id, host, port }) => {
    asked.push(id)
    return {
      address: { host, port },
      usable: true,
      info: async () => '',
      call: async () => [SETTING, '20480'],
      [Symbol.dispose]: () => undefined,
    }
  })
  const memory = createTurnMemory()
  const turn = async () => {
    const before = asked.length
    await keepNodeTimeout(
      database,
      seen,
      { engines: { tryOn }, effect: createEffect(() => undefined) },
      memory,
    )
    return asked.length - before
  }
  const turns = []
  for (let n = 0; n < 5; n++) turns.push(await turn())
  expect(turns).toEqual([16, 16, 16, 16, 0])
  expect(new Set(asked).size).toBe(64)
})
