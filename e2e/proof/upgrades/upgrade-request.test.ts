import { existsSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Body, createDatabase } from '@fairlead/api'
import { connectEngine } from '@fairlead/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claimPorts } from '../../../proof/claim-ports.ts'
import { build } from '../../../proof/engine-pairs.ts'
import { freshName } from '../../../proof/fresh-name.ts'
import { asAdmin } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

let fairlead: Fairlead
beforeAll(async () => {
  fairlead = await startFairlead()
})
afterAll(() => fairlead[Symbol.asyncDispose]())

async function create(body: Partial<Body<typeof createDatabase>>) {
  const name = freshName('db')
  const { uid, action_uid } = await fairlead.api.createDatabase({ body: { name, memory_size: 0, ...body } })
  expect(await fairlead.untilEnded(action_uid)).toMatchObject({ status: 'completed' })
  return fairlead.api.getDatabase({ params: { uid } })
}

describe('a dry run', () => {
  test('tries the target in a process of its own, shows the whole plan, and leaves nothing behind', async () => {
    const { uid } = await create({ replication: true, engine_version: build('redis', '7.0') })
    const before = await fairlead.api.listNodes({})
    const answer = await fairlead.api.upgradeDatabase({
      params: { uid },
      query: { dry_run: '' },
      body: { engine_version: build('valkey', '8.1') },
    })
    expect(answer).toMatchObject({
      engine: 'valkey',
      status: 'active',
      plan: { change: true, handovers: 1, outage_ms: 0, trial: { ok: true } },
    })
    // The known holes of a build depend on its source.
    expect(answer.plan?.risks.filter((risk) => !risk.includes('has a known hole'))).toEqual([])
    expect(answer).not.toHaveProperty('action_uid')
    expect(answer.plan?.lanes[0]?.steps.map(({ op_name }) => op_name)).toEqual([
      'add-shard',
      'hand-over',
      'seal-handover',
      'restart-shard',
      'retire-shard',
    ])
    const trials = join(fairlead.home, 'trials', 'shards')
    expect(existsSync(trials) ? readdirSync(trials) : []).toEqual([])
    expect((await fairlead.api.listNodes({}))[0]?.shard_list).toEqual(before[0]?.shard_list)
    expect(await fairlead.api.getDatabase({ params: { uid } })).toMatchObject({ engine: 'redis' })
  })

  test('predicts the steps that the upgrade then takes', async () => {
    const { uid } = await create({ shards_count: 2, engine_version: build('valkey', '8.0') })
    const body = { engine_version: build('valkey', '8.1') }
    const { plan } = await fairlead.api.upgradeDatabase({ params: { uid }, query: { dry_run: 'true' }, body })
    const { action_uid } = await fairlead.api.upgradeDatabase({ params: { uid }, body })
    const action = await fairlead.untilEnded(action_uid)
    expect(action).toMatchObject({ status: 'completed', warnings: [] })
    expect(action.certificates.length).toBe(plan?.handovers)
    expect(plan?.handovers).toBe(2)
  })

  test('counts reserved memory as free when the replica has its data, and refuses a database that can never fit', async () => {
    await using small = await startFairlead({ env: { FAIRLEAD_NODE_MEMORY_MB: '300' } })
    const body = { name: 'small', memory_size: 0, replication: true, engine_version: build('valkey', '8.0') }
    const { uid, action_uid } = await small.api.createDatabase({ body })
    await small.untilEnded(action_uid)
    const large = { ...body, name: 'large', memory_size: 5_000_000_000 }
    await expect(small.api.createDatabase({ body: large })).rejects.toMatchObject({
      status: 406,
      code: 'insufficient_resources',
      message: expect.stringMatching(/^memory_size: .*10000 MB .*315 MB .*\d+ bytes/),
    })
    await expect
      .poll(
        async () => {
          const request = { params: { uid }, query: { dry_run: '' as const }, body: { force_restart: true } }
          return (await small.api.upgradeDatabase(request)).plan?.memory_free
        },
        { timeout: 10_000 },
      )
      .toBeGreaterThan(230 * 1024 * 1024)
  })

  test('refuses what the upgrade would refuse', async () => {
    const { uid } = await create({ engine_version: build('valkey', '8.1') })
    const foreseen = fairlead.api.upgradeDatabase({
      params: { uid },
      query: { dry_run: '' },
      body: { engine_version: 'redis-7.0' },
    })
    await expect(foreseen).rejects.toMatchObject({ status: 406, code: 'upgrade_path_unsupported' })
  })
})

describe('discarding', () => {
  test('with may_discard_data, a database without replicas and persistence begins empty, and the plan says so', async () => {
    const { uid } = await create({ engine_version: build('valkey', '8.0') })
    await using writer = await asUser(uid)
    await writer.call('SET', 'gone', '1')
    const body = { engine_version: build('valkey', '8.1'), may_discard_data: true }
    const { plan } = await fairlead.api.upgradeDatabase({ params: { uid }, query: { dry_run: '' }, body })
    expect(plan?.risks).toContainEqual(expect.stringMatching(/discarded/))
    const { action_uid } = await fairlead.api.upgradeDatabase({ params: { uid }, body })
    expect(await fairlead.untilEnded(action_uid)).toMatchObject({ status: 'completed', certificates: [] })
    await using reader = await asUser(uid)
    expect(await reader.call('DBSIZE')).toBe(0)
  })

  test('with force_discard upgrades between builds that cannot replicate, with all replicas', async () => {
    const { uid } = await create({
      replication: true,
      data_persistence: 'aof',
      engine_version: build('valkey', '8.1'),
    })
    await using writer = await asUser(uid)
    await writer.call('SET', 'gone', '1')
    const body = { engine_version: build('redis', '7.0'), force_discard: true }
    const { action_uid } = await fairlead.api.upgradeDatabase({ params: { uid }, body })
    expect(await fairlead.untilEnded(action_uid)).toMatchObject({ status: 'completed' })
    const shards = await fairlead.api.listDatabaseShards({ params: { uid } })
    expect(shards.map(({ role, engine }) => `${role} ${engine}`).toSorted()).toEqual([
      'master redis',
      'slave redis',
    ])
    await using reader = await asUser(uid)
    expect(await reader.call('DBSIZE')).toBe(0)
  })
})

test('without ports for its shards a database is refused, and so is its upgrade, and nothing is begun', async () => {
  await using ports = await claimPorts()
  // Two for each shard, one for the endpoint, and one more.
  const range = `${ports.from}-${ports.from + 7}`
  await using crowded = await startFairlead({ env: { FAIRLEAD_PORT_RANGE: range } })
  const { uid, action_uid } = await crowded.api.createDatabase({
    body: { name: 'three', memory_size: 0, shards_count: 3, engine_version: build('valkey', '8.0') },
  })
  await crowded.untilEnded(action_uid)
  const second = crowded.api.createDatabase({ body: { name: 'two', memory_size: 0, replication: true } })
  await expect(second).rejects.toMatchObject({ status: 406, code: 'insufficient_resources' })
  for (const query of [{}, { dry_run: 'true' as const }]) {
    const body = { engine_version: build('valkey', '8.1') }
    const upgrade = crowded.api.upgradeDatabase({ params: { uid }, query, body })
    await expect(upgrade).rejects.toMatchObject({
      status: 406,
      message: expect.stringMatching(/FAIRLEAD_PORT_RANGE/),
    })
  }
  expect(await crowded.api.listDatabases({})).toMatchObject([{ uid, status: 'active' }])
})

// invariant: Users and settings are equal at the successor before the role moves.
test('users with their rights, and settings that an operator made at run time, go with the role', async () => {
  const { uid, shard_list } = await create({ replication: true, engine_version: build('redis', '7.0') })
  const [first = 0] = shard_list
  {
    using admin = await asAdmin(fairlead, first)
    await admin.call(
      'ACL',
      'SETUSER',
      'app',
      'on',
      '>app-password',
      '~app:*',
      '&*',
      '+@read',
      '+set',
      '+ping',
    )
    await admin.call('CONFIG', 'SET', 'slowlog-log-slower-than', 4_321)
  }
  const body = { engine_version: build('valkey', '8.1') }
  const { action_uid } = await fairlead.api.upgradeDatabase({ params: { uid }, body })
  expect(await fairlead.untilEnded(action_uid)).toMatchObject({ status: 'completed', warnings: [] })

  for (const { uid: shard, port } of await fairlead.api.listDatabaseShards({ params: { uid } })) {
    using app = await connectEngine({
      address: { host: '127.0.0.1', port },
      login: { username: 'app', password: 'app-password' },
      connectTimeoutMs: 20_000,
      commandTimeoutMs: 20_000,
    })
    await expect(app.call('DEL', 'app:1')).rejects.toThrow(/NOPERM/)
    using admin = await asAdmin(fairlead, Number(shard))
    expect(await admin.call('CONFIG', 'GET', 'slowlog-log-slower-than')).toEqual([
      'slowlog-log-slower-than',
      '4321',
    ])
  }
})

test('a client that reads a long reply slowly gets all of it, from a shard that is kept until then', async () => {
  const password = 'for-slow-readers'
  const made = await create({ engine_version: build('redis', '7.0'), authentication_engine_pass: password })
  const { uid, port, shard_list } = made
  const bytes = 32 * 1024 * 1024
  {
    using admin = await asAdmin(fairlead, shard_list[0] ?? 0)
    await admin.call('SETRANGE', 'long', bytes - 1, 'x')
  }
  const client = connect({ host: '127.0.0.1', port: port ?? 0 })
  let read = 0
  client.on('data', (chunk: Buffer) => {
    if (read === 0) client.pause()
    read += chunk.length
  })
  client.write(`AUTH ${password}\r\nGET long\r\n`)
  await until('the reply has begun', async () => read > 0)

  const body = { engine_version: build('valkey', '8.1'), rollback_window: 0 }
  const { action_uid = '' } = await fairlead.api.upgradeDatabase({ params: { uid }, body })
  const waits = async () => {
    const { hold_reason, certificates } = await fairlead.api.getAction({ params: { uid: action_uid } })
    return certificates.length === 1 && hold_reason === 'clients_reading'
  }
  await until('the old shard is kept for its reader', waits)
  client.resume()
  await until('all of it has come', async () => read === `+OK\r\n$${bytes}\r\n\r\n`.length + bytes)
  expect(await fairlead.untilEnded(action_uid)).toMatchObject({ status: 'completed' })
  client.write('STRLEN long\r\n')
  await until(
    'it goes on at the new primary',
    async () => read === `+OK\r\n$${bytes}\r\n\r\n:${bytes}\r\n`.length + bytes,
  )
  client.destroy()
})

test('a sharded database shows its slots, its primaries as endpoints, and its share of memory', async () => {
  const database = await create({
    shards_count: 3,
    oss_cluster: true,
    replication: true,
    memory_size: 300_000_000,
  })
  expect(database).toMatchObject({ sharding: true, shards_count: 3, oss_cluster: true })
  expect(database.endpoints.map(({ uid }) => uid)).toEqual(['1', '2', '3'].map((n) => `${database.uid}:${n}`))
  const shards = await fairlead.api.listDatabaseShards({ params: { uid: database.uid } })
  const primaries = shards.filter(({ role }) => role === 'master')
  expect(primaries.map(({ assigned_slots }) => assigned_slots)).toEqual([
    '0-5461',
    '5462-10922',
    '10923-16383',
  ])
  expect(primaries.map(({ port }) => port)).toEqual(database.endpoints.map(({ port }) => port))
  using admin = await asAdmin(fairlead, Number(primaries[0]?.uid))
  const [, limit] = (await admin.call('CONFIG', 'GET', 'maxmemory')) as string[]
  // The share of the clients, plus the memory of replication.
  expect(Number(limit) - 100_000_000).toBe(66.5 * 1024 * 1024)
  expect(String(await admin.call('CLUSTER', 'INFO'))).toMatch(/cluster_state:ok[\s\S]*cluster_known_nodes:6/)
})

/** As the database's own user, at its first endpoint. */
async function asUser(uid: number) {
  const { endpoints, authentication_engine_pass: password = '' } = await fairlead.api.getDatabase({
    params: { uid },
  })
  const connection = await connectEngine({
    address: { host: '127.0.0.1', port: endpoints[0]?.port ?? 0 },
    login: { username: 'default', password },
    connectTimeoutMs: 20_000,
    commandTimeoutMs: 20_000,
  })
  return Object.assign(connection, {
    [Symbol.asyncDispose]: async () => connection[Symbol.dispose](),
  })
}

test('shards of one database say what they are to their group, and how far they are', async () => {
  const { api } = fairlead
  const { uid } = await create({ replication: true })
  const shards = await until('the engines have answered', async () => {
    const found = await api.listDatabaseShards({ params: { uid } })
    const isThere = found.every((one) => one.offset !== null && (one.role === 'master' || one.link === 'up'))
    return isThere && found
  })
  const each = { group: 0, offset: expect.any(Number), used_memory: expect.any(Number) }
  expect(shards.toSorted((a, b) => (a.role < b.role ? -1 : 1))).toMatchObject([
    { ...each, role: 'master', duty: 'primary', link: null, lag_bytes: null },
    { ...each, role: 'slave', duty: 'replica', link: 'up', lag_bytes: expect.any(Number) },
  ])
  for (const { started } of shards) expect(Date.parse(started ?? '')).toBeGreaterThan(0)
  const [first] = shards
  // Of all databases engines are not asked.
  const listed = (await api.listShards({ query: {} })).find((shard) => shard.uid === first?.uid)
  expect(listed).toMatchObject({ group: 0, started: first?.started, duty: null, used_memory: null })
})
