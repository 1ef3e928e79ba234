import { readInfo } from '@fairlead/engine'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { asAdmin } from '../../../proof/roles.ts'
import { startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { untilAction } from '../../../proof/way-back.ts'

const { from, to } = usualPair()
const MANY = 60

test.for([{ groups: 1 }, { groups: 2 }])(
  'an old primary of $groups group(s) has given up what blocks before it is demoted, and each client gets its item',
  async ({ groups }) => {
    await using fairlead = await startFairlead()
    const { api } = fairlead
    const created = await api.createDatabase({
      body: {
        name: 'queues',
        memory_size: 0,
        replication: false,
        engine_version: from,
        ...(groups > 1 && { shards_count: groups }),
      },
    })
    await fairlead.untilEnded(created.action_uid)
    const params = { uid: created.uid }
    const { port, authentication_engine_pass: password = '' } = await api.getDatabase({ params })
    await using stack = new AsyncDisposableStack()
    const connect = () => {
      const client = new Redis({ host: '127.0.0.1', port, username: 'default', password })
      stack.defer(() => client.disconnect())
      return client
    }
    const pusher = connect()
    const items = Promise.all(
      Array.from({ length: MANY }, async (_, n) => (await connect().blpop(`{a}${n}`, 0))?.[1]),
    )
    items.catch(() => undefined) // the result is awaited below
    const infoOf = async (shard: number, section: string, name: string) => {
      using engine = await asAdmin(fairlead, shard)
      return readInfo(await engine.info(section))[name] ?? ''
    }
    const shards = (await api.listDatabaseShards({ params })).map(({ uid }) => Number(uid))
    const busy = await until('all wait', async () => {
      for (const shard of shards)
        if ((await infoOf(shard, 'clients', 'blocked_clients')) === String(MANY)) return shard
      return undefined
    })

    const { action_uid } = await api.upgradeDatabase({
      params,
      body: { engine_version: to, rollback_window: 'until_finalized' },
    })
    await untilAction(fairlead, action_uid ?? '', 'the old primary is a standby', (seen) => {
      return seen.needs_person && seen.rollback_eligible === true
    })
    // All, or nearly: what the demotion ends itself on a busy machine is few. A redis before 6.2 has no list
    // of clients by number (give-up-blocked.ts): there the demotion ends their commands.
    if (!from.startsWith('redis-6.0'))
      expect(callsIn(await infoOf(busy, 'commandstats', 'cmdstat_client|unblock'))).toBeGreaterThan(MANY / 2)
    for (let n = 0; n < MANY; n += 1) await pusher.rpush(`{a}${n}`, `item ${n}`)
    expect(await items).toEqual(Array.from({ length: MANY }, (_, n) => `item ${n}`))
    expect(await pusher.exists('{a}0')).toBe(0)
  },
)

/** Of a line of INFO commandstats. */
function callsIn(line: string): number {
  return Number(/^calls=(\d+),/.exec(line)?.[1] ?? 0)
}
