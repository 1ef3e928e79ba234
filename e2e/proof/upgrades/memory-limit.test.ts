import { setTimeout as pause } from 'node:timers/promises'
import type { Body, createDatabase } from '@fairlead/api'
import { connectEngine, type EngineConnection, numberOf, readInfo } from '@fairlead/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { build, findBuild, usualPair } from '../../../proof/engine-pairs.ts'
import { freshName } from '../../../proof/fresh-name.ts'
import { asAdmin, pidOf, specOf } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

const { from, to } = usualPair()
const MB = 1_000_000
const MiB = 1024 * 1024

let fairlead: Fairlead
beforeAll(async () => {
  fairlead = await startFairlead()
})
afterAll(() => fairlead[Symbol.asyncDispose]())

describe('memory_size is for the clients: replication takes nothing from it', () => {
  const builds = [
    ['redis', '6.0'],
    ['redis', '7.0'],
    ['redis', '8.0'],
    ['valkey', '8.0'],
    ['valkey', '8.1'],
    ['valkey', '9'],
  ].flatMap((line) => findBuild(line[0] ?? '', line[1]) ?? [])

  // invariant: All of memory_size is for clients; memory for replication is added.
  test.each(builds)('%s: a replicated database that evicts nothing accepts all writes', async (name) => {
    const uid = await create({ engine_version: name, memory_size: 16 * MB, replication: true })
    using client = await asUser(uid)
    // Data of nine tenths of the limit, and more writes than replication keeps.
    expect(await overwrite(client, { keys: 2_600, bytes: 4_096, writes: 18_500 })).toBe(0)
    expect(await evictedFrom(uid)).toBe(0)
  })

  test.each(['noeviction', 'allkeys-lru'] as const)(
    'an upgrade under load of a database 45 % full refuses no write and evicts no key: %s',
    async (eviction_policy) => {
      const uid = await create({
        engine_version: from,
        memory_size: 24 * MB,
        eviction_policy,
      })
      using client = await asUser(uid)
      expect(await overwrite(client, { keys: 2_200, bytes: 4_096, writes: 2_200 })).toBe(0)
      const params = { uid }
      const { action_uid } = await fairlead.api.upgradeDatabase({
        params,
        body: { engine_version: to },
      })
      let [ended, refused] = [false, 0]
      const upgrade = fairlead.untilEnded(action_uid).finally(() => {
        ended = true
      })
      while (!ended) {
        refused += await overwrite(client, { keys: 2_200, bytes: 4_096, writes: 100 })
        await pause(20)
      }
      expect(await upgrade).toMatchObject({ status: 'completed', warnings: [] })
      // Writes as much again as the limit: the buffers of replication are full then.
      refused += await overwrite(client, { keys: 2_200, bytes: 4_096, writes: 6_000 })
      expect(refused).toBe(0)
      expect(await client.call('DBSIZE')).toBe(2_200)
      expect(await evictedFrom(uid)).toBe(0)
    },
  )
})

describe('the limit of an engine', () => {
  test('is corrected while the engine runs, whatever changed it, and follows the backlog; the next process begins with it', async () => {
    const uid = await create({
      memory_size: 16 * MB,
      replication: true,
      engine_version: from,
    })
    const [primary, replica] = await shardsOf(uid)
    const pids = await Promise.all([pidOf(fairlead, primary), pidOf(fairlead, replica)])
    // The limits of an older Fairlead, and a larger backlog than Fairlead's, set by hand.
    for (const shard of [primary, replica]) await tell(shard, 'CONFIG', 'SET', 'maxmemory', 16 * MB)
    await until(
      'both have it back',
      async () => (await limitOf(primary)) === limitWith(64) && (await limitOf(replica)) === limitWith(64),
    )
    await tell(primary, 'CONFIG', 'SET', 'repl-backlog-size', '128mb')
    await until('the clients keep their share', async () => (await limitOf(primary)) === limitWith(128))
    expect(await Promise.all([pidOf(fairlead, primary), pidOf(fairlead, replica)])).toEqual(pids)

    process.kill(pids[1], 'SIGKILL')
    await until(
      'the replica is back',
      async () => (await pidOf(fairlead, replica).catch(() => pids[1])) !== pids[1],
    )
    expect(specOf(fairlead.home, replica).memoryBytes).toBe(limitWith(64))
    await until(
      'it has its limit',
      async () => (await limitOf(replica)) === limitWith(128) || (await limitOf(replica)) === limitWith(64),
    )

    const { action_uid } = await fairlead.api.upgradeDatabase({
      params: { uid },
      body: { engine_version: to },
    })
    expect(await fairlead.untilEnded(action_uid)).toMatchObject({ status: 'completed', warnings: [] })
    const [successor] = await shardsOf(uid)
    expect(await settingOf(successor, 'repl-backlog-size')).toBe(128 * MiB)
    expect(await limitOf(successor)).toBe(limitWith(128))
  })
})

describe('an upgrade to a build that needs more memory for the same data', () => {
  const older = build('valkey', '8.1')
  const newer = findBuild('redis', '8.0')

  // invariant: The role does not move where the data would not fit.
  test.runIf(newer !== undefined).each(['noeviction', 'allkeys-lru'] as const)(
    'is taken back before the role moves when the data would not fit: %s',
    async (eviction_policy) => {
      const uid = await create({ engine_version: older, memory_size: 12 * MB, eviction_policy })
      using client = await asUser(uid)
      await fill(client, 150_000)
      const [primary] = await shardsOf(uid)
      const pid = await pidOf(fairlead, primary)
      const request = { params: { uid }, body: { engine_version: newer ?? '' } }
      const { plan } = await fairlead.api.upgradeDatabase({ ...request, query: { dry_run: '' } })
      expect(plan?.risks).toContainEqual(expect.stringMatching(/ \d+ MB, .* 11 MB .*\(memory_size\)/))

      const { action_uid } = await fairlead.api.upgradeDatabase(request)
      expect(await fairlead.untilEnded(action_uid)).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/ MB on redis 8.* memory_size to \d+ /),
        certificates: [],
      })
      expect(await pidOf(fairlead, primary)).toBe(pid)
      expect(await client.call('DBSIZE')).toBe(150_000)
      expect(await client.call('SET', 'still', 'served')).toBe('OK')
      expect(await evictedFrom(uid)).toBe(0)
    },
  )
})

/** The limit of an engine for 16 MB of its clients, with a backlog of this many MiB. */
const limitWith = (backlog: number) => 16 * MB + backlog * MiB * (1 + 1 / 128) + 2 * MiB

async function create(body: Partial<Body<typeof createDatabase>>): Promise<number> {
  const name = freshName('db')
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: { name, memory_size: 0, eviction_policy: 'noeviction', ...body },
  })
  expect(await fairlead.untilEnded(action_uid)).toMatchObject({ status: 'completed' })
  return uid
}

/** As the database's own user, at its endpoint. */
async function asUser(uid: number): Promise<EngineConnection> {
  const { endpoints, authentication_engine_pass: password = '' } = await fairlead.api.getDatabase({
    params: { uid },
  })
  return connectEngine({
    address: { host: '127.0.0.1', port: endpoints[0]?.port ?? 0 },
    login: { username: 'default', password },
    connectTimeoutMs: 20_000,
    commandTimeoutMs: 20_000,
  })
}

/** Small keys, which take different memory in different builds. */
async function fill(client: EngineConnection, keys: number): Promise<void> {
  const some = 10_000
  for (let from = 0; from < keys; from += some)
    await client.call(
      'EVAL',
      "for n = ARGV[1], ARGV[2] do redis.call('SET', 'small:' .. n, n) end",
      0,
      from,
      from + some - 1,
    )
}

/** Writes `keys` strings repeatedly. Returns how many writes were refused. */
async function overwrite(
  client: EngineConnection,
  { keys, bytes, writes }: { readonly keys: number; readonly bytes: number; readonly writes: number },
): Promise<number> {
  const value = 'x'.repeat(bytes)
  let refused = 0
  for (let begun = 0; begun < writes; begun += 100) {
    const batch = Array.from({ length: Math.min(100, writes - begun) }, (_, n) =>
      client.call('SET', `key:${(begun + n) % keys}`, value).catch(() => {
        refused += 1
      }),
    )
    await Promise.all(batch)
  }
  return refused
}

/** The primary first. */
async function shardsOf(uid: number): Promise<readonly [number, number]> {
  const shards = await fairlead.api.listDatabaseShards({ params: { uid } })
  const [first = 0, second = 0] = shards
    .toSorted((a, b) => a.role.localeCompare(b.role))
    .map((shard) => Number(shard.uid))
  return [first, second]
}

async function tell(shard: number, command: string, ...args: readonly (string | number)[]) {
  using admin = await asAdmin(fairlead, shard)
  return await admin.call(command, ...args)
}

const limitOf = (shard: number) => settingOf(shard, 'maxmemory')

async function settingOf(shard: number, setting: string): Promise<number> {
  const reply = await tell(shard, 'CONFIG', 'GET', setting)
  return Number(Array.isArray(reply) ? reply[1] : Number.NaN)
}

/** Counted by the process that is the primary now, since it started. */
async function evictedFrom(uid: number): Promise<number> {
  const shards = await fairlead.api.listDatabaseShards({ params: { uid } })
  using admin = await asAdmin(fairlead, Number(shards.find(({ role }) => role === 'master')?.uid))
  return numberOf(readInfo(await admin.info('stats')), 'evicted_keys')
}
