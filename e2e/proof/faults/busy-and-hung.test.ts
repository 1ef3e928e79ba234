import { connectEngine, type EngineConnection } from '@fairlead/engine'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pidOf, rolesOf } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

let fairlead: Fairlead
beforeAll(async () => {
  fairlead = await startFairlead({ env: { FAIRLEAD_HUNG_AFTER_SECONDS: '2' } })
})
afterAll(() => fairlead[Symbol.asyncDispose]())

test('a primary that is busy in one transaction keeps its role and its clients, and says so', async () => {
  const { uid, primary } = await create({ replication: true })
  const pid = await pidOf(fairlead, primary)
  using client = await connect(uid)
  for (let n = 0; n < 30; n += 1)
    await client.call('RPUSH', 'list', ...Array.from({ length: 10_000 }, () => 'x'))
  const one = (await transaction(20, client)) / 20
  const written = transaction(Math.ceil(5_000 / one), client)
  using waiting = await connect(uid)
  const asked = waiting.call('LLEN', 'list')
  const busy = await until('the shard is reported as busy', async () => {
    const shard = await shardOf(uid, primary)
    return shard?.detailed_status === 'busy' && shard
  })
  expect(busy.status_reason).not.toBe('')
  await written
  expect(await asked).toBe(300_000)
  expect(await pidOf(fairlead, primary)).toBe(pid)
  await until('it is ok again', async () => (await shardOf(uid, primary))?.detailed_status === 'ok')
  expect(await shardOf(uid, primary)).toMatchObject({ role: 'master', status_reason: '' })
  expect(await tellings(uid)).toEqual([])
})

test('a primary that hangs is replaced by its replica, and comes back as a replica of it', async () => {
  const { uid, primary } = await create({ replication: true })
  {
    using client = await connect(uid)
    await client.call('SET', 'kept', 'yes')
    await client.call('WAIT', '1', '1000')
  }
  process.kill(await pidOf(fairlead, primary), 'SIGSTOP')
  await until('it counts as hung', async () => (await shardOf(uid, primary))?.detailed_status === 'timeout')
  await until('another is the primary', async () => (await shardOf(uid, primary))?.role === 'slave')
  await until('both serve', async () => (await rolesOf(fairlead, uid)).join() === 'primary,replica')
  using client = await connect(uid)
  expect(await client.call('GET', 'kept')).toBe('yes')
  expect(await tellings(uid)).toContain('bdb_primary_replaced')
})

test('a process with the only copy is never ended: the status says that a person has to decide, and a person may resume it', async () => {
  const { uid, primary } = await create({ replication: false })
  using client = await connect(uid)
  await client.call('SET', 'kept', 'yes')
  const pid = await pidOf(fairlead, primary)
  process.kill(pid, 'SIGSTOP')
  await until('it is in the logs', async () => (await tellings(uid)).join() === 'bdb_shard_hung')
  expect(await shardOf(uid, primary)).toMatchObject({
    detailed_status: 'timeout',
    status_reason: expect.stringMatching(new RegExp(`kill -CONT ${pid} .*kill -KILL ${pid} `)),
  })
  process.kill(pid, 'SIGCONT')
  expect(await client.call('GET', 'kept')).toBe('yes')
  expect(await pidOf(fairlead, primary)).toBe(pid)
})

async function create(fields: object): Promise<{ readonly uid: number; readonly primary: number }> {
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: { name: `hangs-${performance.now()}`.replace('.', '-'), memory_size: 0, ...fields },
  })
  expect((await fairlead.untilEnded(action_uid)).status).toBe('completed')
  const shards = await fairlead.api.listDatabaseShards({ params: { uid } })
  return { uid, primary: Number(shards.find(({ role }) => role === 'master')?.uid) }
}

async function shardOf(uid: number, shard: number) {
  const shards = await fairlead.api.listDatabaseShards({ params: { uid } })
  return shards.find((one) => one.uid === String(shard))
}

/** The audit records about the shards of a database. */
async function tellings(uid: number): Promise<readonly string[]> {
  const logs = await fairlead.api.listLogs({ query: { order: 'asc', limit: 200 } })
  const types = logs.filter(({ bdb_uid }) => bdb_uid === String(uid)).map(({ type }) => type)
  return types.filter((type) => /^bdb_(primary|shard)_/.test(type))
}

/** A client of the endpoint that waits for its answers. */
async function connect(uid: number): Promise<EngineConnection> {
  const { endpoints, authentication_engine_pass: password = '' } = await fairlead.api.getDatabase({
    params: { uid },
  })
  const [{ port = 0 } = {}] = endpoints
  return connectEngine({
    address: { host: '127.0.0.1', port },
    login: { username: 'default', password },
    commandTimeoutMs: 60_000,
  })
}

async function transaction(times: number, client: EngineConnection): Promise<number> {
  await client.call('MULTI')
  for (let n = 0; n < times; n += 1) await client.call('LPOS', 'list', 'absent')
  const began = performance.now()
  await client.call('EXEC')
  return performance.now() - began
}
