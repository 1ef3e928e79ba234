import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { adminPassword, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { smallDisk } from '../../support/small-disk.ts'

const { from } = usualPair()
const LONG = 'v'.repeat(20_000)

test.runIf(process.getuid?.() === 0)(
  'on a full disk what is in memory serves on, a process that ends there says why it does not come back, and with room all goes on without an acknowledged write lost',
  async () => {
    using disk = smallDisk(300)
    await using fairlead = await startFairlead({ parent: disk.folder, env: { FAIRLEAD_LOG_LEVEL: 'silent' } })
    const { api } = fairlead
    const create = async (fields: object) => {
      const body = { memory_size: 0, replication: false, engine_version: from, name: 'kept', ...fields }
      const { uid, action_uid } = await api.createDatabase({ body })
      await fairlead.untilEnded(action_uid)
      const { port, authentication_engine_pass: password = '' } = await api.getDatabase({ params: { uid } })
      return { uid, port, password }
    }
    const kept = await create({ data_persistence: 'aof', aof_policy: 'appendfsync-always' })
    const other = await create({ name: 'other' })
    await using stack = new AsyncDisposableStack()
    const dial = ({ port, password }: typeof kept) => {
      const client = new Redis({
        host: '127.0.0.1',
        port,
        password,
        retryStrategy: () => 100,
        commandTimeout: 5_000,
      })
      client.on('error', () => undefined)
      stack.defer(() => client.disconnect())
      return client
    }
    const [writer, neighbour] = [dial(kept), dial(other)]
    await writer.set('n0', LONG)
    await neighbour.set('k', 'v')

    const ballast = disk.fill()
    let acked = 1
    // With this policy the engine ends itself when it cannot write.
    const writeNext = async () => {
      await writer.set(`n${acked}`, LONG)
      acked += 1
    }
    await until('a write is refused', () => writeNext().catch(() => true))
    const shards = () => api.listDatabaseShards({ params: { uid: kept.uid } })
    await until('its shard says why', async () => {
      return (await shards())[0]?.status_reason?.includes('disk of FAIRLEAD_HOME is full')
    })
    expect((await shards())[0]?.status).not.toBe('active')
    expect(await neighbour.set('k', 'w')).toBe('OK')
    const login = { username: 'admin', password: adminPassword }
    await expect(api.authorizeUser({ body: login })).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining('the disk of the store is full'),
    })

    ballast[Symbol.dispose]()
    await until('it serves again', () => writer.set('after', 'v').catch(() => undefined))
    for (let n = 0; n < acked; n += 1) expect(await writer.get(`n${n}`), `of ${acked}`).toBe(LONG)
    expect(await neighbour.get('k')).toBe('w')
    await until('a login is possible again', () => api.authorizeUser({ body: login }).catch(() => undefined))
    await until('it is active', async () => (await shards())[0]?.status === 'active')
  },
)
