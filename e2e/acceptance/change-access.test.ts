import { startLoad } from '@fairlead/ledger'
import { Redis } from 'ioredis'
import { expect } from 'vitest'
import { createDatabase } from '../../proof/create-database.ts'
import { usualPair } from '../../proof/engine-pairs.ts'
import { freePortsFrom } from '../../proof/free-port.ts'
import { freshName } from '../../proof/fresh-name.ts'
import { pidOf } from '../../proof/roles.ts'
import type { Fairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'
import { test } from '../support/shared-fairlead.ts'

const { from, to } = usualPair()
const plain = {
  memory_size: 0,
  replication: false,
  data_persistence: 'disabled',
  engine_version: from,
} as const

/** Asks for PING on a connection of its own. Returns the answer, or `refused`. */
async function ping(port: number, password: string, tls: boolean): Promise<string> {
  const options = { host: '127.0.0.1', port, password, retryStrategy: () => null, lazyConnect: true }
  const client = new Redis({ ...options, ...(tls && { tls: { rejectUnauthorized: false } }) })
  client.on('error', () => undefined)
  try {
    return await client.ping()
  } catch {
    return 'refused'
  } finally {
    client.disconnect()
  }
}

/** A port of its range that nothing uses: it gives the lowest ones to shards and endpoints. */
async function freePort({ environment }: Fairlead): Promise<number> {
  const last = Number(environment['FAIRLEAD_PORT_RANGE']?.split('-')[1])
  return await freePortsFrom(last - 20, last)()
}

test.for([1, 2])(
  'a database with %i group(s) gets another port and TLS, and is upgraded, while clients of the former port write and notice nothing',
  async (groups, { fairlead }) => {
    const { api } = fairlead
    const body = { name: freshName('access'), ...plain, shards_count: groups }
    const { uid, port, password } = await createDatabase(fairlead, body)
    const params = { uid }
    await using load = await startLoad({
      kind: 'incr',
      connections: 20,
      perSecond: 5_000,
      password,
      lookup: { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token },
    })
    const writeOn = () => load.untilAcked(load.acked() + 2_000)
    await writeOn()
    const next = await freePort(fairlead)
    const changed = await api.updateDatabase({ params, query: {}, body: { port: next } })
    expect(changed).not.toHaveProperty('action_uid')
    await until('the new port serves', async () => (await ping(next, password, false)) === 'PONG')
    await writeOn()
    await api.updateDatabase({ params, query: {}, body: { tls_mode: 'enabled' } })
    await until('the new port speaks TLS', async () => (await ping(next, password, true)) === 'PONG')
    for (const place of [port, next]) expect(await ping(place, password, false)).toBe('PONG')
    await writeOn()
    const after = await api.getDatabase({ params })
    expect(after).toMatchObject({ port: next, tls_mode: 'enabled' })
    expect(after.former_access).toMatchObject([
      { port, tls_mode: 'disabled' },
      { port: next, tls_mode: 'disabled' },
    ])
    const upgrade = await api.upgradeDatabase({ params, body: { engine_version: to } })
    expect(await fairlead.untilEnded(upgrade.action_uid)).toMatchObject({ outcome: 'completed' })
    await writeOn()
    const report = await load.stop()
    expect({ errors: report.errors, reconnects: report.reconnects }).toEqual({ errors: {}, reconnects: 0 })
    expect(await load.readBack({ address: { host: '127.0.0.1', port } })).toMatchObject({
      lost: 0,
      duplicated: 0,
    })
    await api.updateDatabase({ params, query: {}, body: { former_valid_seconds: 0 } })
    await until('the former port ends', async () => (await ping(port, password, false)) === 'refused')
    await until('its TLS is asked for', async () => (await ping(next, password, false)) === 'refused')
    expect(await ping(next, password, true)).toBe('PONG')
    expect(await api.getDatabase({ params })).not.toHaveProperty('former_access')
  },
)

test('what is replaced ends at its time, and its clients are closed and find the database at its new port', async ({
  fairlead,
}) => {
  const { api } = fairlead
  const { uid, port, password } = await createDatabase(fairlead, { name: freshName('access'), ...plain })
  await using load = await startLoad({
    kind: 'incr',
    connections: 20,
    perSecond: 2_000,
    password,
    lookup: { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token },
  })
  await load.untilAcked(1_000)
  const next = await freePort(fairlead)
  const body = { port: next, former_valid_seconds: 2 }
  await api.updateDatabase({ params: { uid }, query: {}, body })
  await until('the former port ends', async () => (await ping(port, password, false)) === 'refused')
  await until('nothing former is left', async () => {
    return (await api.getDatabase({ params: { uid } })).former_access === undefined
  })
  const { connections } = await until('all have come to the new port', async () => {
    const stats = await api.getEndpointStats({ params: { uid } })
    return stats.connections >= 20 ? stats : undefined
  })
  expect(connections).toBe(20)
  await load.untilAcked(load.acked() + 2_000)
  await load.stop()
  expect(await load.readBack()).toMatchObject({ lost: 0, duplicated: 0 })
  const again = await api.updateDatabase({
    params: { uid },
    query: {},
    body: { port, former_valid_seconds: 0 },
  })
  expect(again.port).toBe(port)
  await until('the first port serves again', async () => (await ping(port, password, false)) === 'PONG')
})

test.for([1, 2])(
  'a database with %i group(s) gets another password: both are valid while clients move, then sessions of the former one are closed, and no write is lost',
  async (groups, { fairlead }) => {
    const { api } = fairlead
    const body = { name: freshName('access'), ...plain, replication: true, shards_count: groups }
    const { uid, port, password } = await createDatabase(fairlead, body)
    const params = { uid }
    await using load = await startLoad({
      kind: 'incr',
      connections: 20,
      perSecond: 5_000,
      password,
      lookup: { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token },
    })
    await load.untilAcked(2_000)
    const next = 'another-password-of-it'
    const changed = await api.updateDatabase({
      params,
      query: {},
      body: { authentication_engine_pass: next },
    })
    expect(changed).toMatchObject({ authentication_redis_pass: next, former_access: [{ password: true }] })
    for (const valid of [password, next]) expect(await ping(port, valid, false)).toBe('PONG')
    for (const shard of await api.listDatabaseShards({ params }))
      for (const valid of [password, next]) expect(await ping(shard.port, valid, false)).toBe('PONG')
    const upgrade = await api.upgradeDatabase({ params, body: { engine_version: to } })
    expect(await fairlead.untilEnded(upgrade.action_uid)).toMatchObject({ outcome: 'completed' })
    for (const valid of [password, next]) expect(await ping(port, valid, false)).toBe('PONG')
    await load.untilAcked(load.acked() + 2_000)
    const report = await load.stop()
    expect({ errors: report.errors, reconnects: report.reconnects }).toEqual({ errors: {}, reconnects: 0 })
    expect(await load.readBack()).toMatchObject({ lost: 0, duplicated: 0 })

    const [kept, ended] = [next, password].map(
      (one) => new Redis({ host: '127.0.0.1', port, password: one, retryStrategy: () => null }),
    )
    for (const client of [kept, ended]) expect(await client?.ping()).toBe('PONG')
    await api.updateDatabase({ params, query: {}, body: { former_valid_seconds: 0 } })
    await until('the session of the former password ends', async () => ended?.status === 'end')
    expect(await ping(port, password, false)).toBe('refused')
    expect(await kept?.ping()).toBe('PONG')
    kept?.disconnect()
    const [shard] = await api.listDatabaseShards({ params })
    process.kill(await pidOf(fairlead, Number(shard?.uid)), 'SIGKILL')
    await until(
      'a new process takes it, too',
      async () => (await ping(shard?.port ?? 0, next, false)) === 'PONG',
    )
    expect(await ping(shard?.port ?? 0, password, false)).toBe('refused')
    const records = JSON.stringify(await api.listLogs({ query: { order: 'desc', limit: 50 } }))
    expect(records).toContain('bdb_updated')
    for (const secret of [password, next]) expect(records).not.toContain(secret)
  },
)

test('a renamed database is found under both names by clients that ask a Sentinel', async ({ fairlead }) => {
  const { api } = fairlead
  const [name, other] = [freshName('access'), freshName('renamed')]
  const { uid, password } = await createDatabase(fairlead, { name, ...plain })
  const port = Number(fairlead.environment['FAIRLEAD_SENTINEL_PORT'])
  const isFound = async (known: string) => {
    const client = new Redis({
      sentinels: [{ host: '127.0.0.1', port }],
      name: known,
      username: 'default',
      password,
      sentinelRetryStrategy: () => null,
      retryStrategy: () => null,
      lazyConnect: true,
    })
    client.on('error', () => undefined)
    const answer = await client.ping().catch(() => 'refused')
    client.disconnect()
    return answer === 'PONG'
  }
  expect(await api.updateDatabase({ params: { uid }, query: {}, body: { name: other } })).toMatchObject({
    name: other,
    former_access: [{ name }],
  })
  await until('the new name is known', () => isFound(other))
  expect(await isFound(name)).toBe(true)
  await api.updateDatabase({ params: { uid }, query: {}, body: { former_valid_seconds: 0 } })
  await until('the former name is forgotten', async () => !(await isFound(name)))
  expect(await isFound(other)).toBe(true)
})

test('a port or name of another database is refused with the field, by a dry run, too', async ({
  fairlead,
}) => {
  const { api } = fairlead
  const one = await createDatabase(fairlead, { name: freshName('access'), ...plain })
  const two = await createDatabase(fairlead, { name: freshName('access'), ...plain })
  for (const query of [{}, { dry_run: 'true' }] as const) {
    const change = (body: object) => api.updateDatabase({ params: { uid: one.uid }, query, body })
    await expect(change({ port: two.port })).rejects.toMatchObject({ code: 'port_unavailable' })
    await expect(change({ port: 22 })).rejects.toMatchObject({ code: 'port_unavailable' })
    await expect(change({ name: two.name })).rejects.toMatchObject({ code: 'name_already_exists' })
  }
  const all = await api.getDatabase({ params: { uid: one.uid } })
  expect(await api.updateDatabase({ params: { uid: one.uid }, query: {}, body: { ...all } })).toMatchObject({
    name: one.name,
    port: one.port,
  })
})
