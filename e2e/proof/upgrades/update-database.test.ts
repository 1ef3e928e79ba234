import { join } from 'node:path'
import type { Body, createDatabase, updateDatabase } from '@fairlead/api'
import { connectEngine, type EngineConnection } from '@fairlead/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { build, findBuild } from '../../../proof/engine-pairs.ts'
import { freshName } from '../../../proof/fresh-name.ts'
import { asAdmin } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

const MB = 1_000_000
/** The part of an engine's limit beside its clients', with Fairlead's usual backlog. */
const OURS = 66.5 * 1024 * 1024

let fairlead: Fairlead
beforeAll(async () => {
  fairlead = await startFairlead()
})
afterAll(() => fairlead[Symbol.asyncDispose]())

describe('PUT /v1/bdbs/{uid}', () => {
  // invariant: A change of memory reaches every process, even if the server dies in between.
  test('reaches engines and agent also when the server dies right after recording it', async () => {
    await using crashing = await startFairlead({
      serverMain: join(import.meta.dirname, '../../support/crash-main.ts'),
    })
    const uid = await create({ memory_size: 20 * MB, replication: true }, crashing)
    const shards = await shardsOf(uid, crashing)
    await crashing.server.end('SIGTERM')
    await crashing.server.start({ CRASH_WHEN: 'before set-limit' })
    await put(uid, { memory_size: 30 * MB }, crashing).catch(() => undefined)
    await crashing.server.ended
    await crashing.server.start()
    await until('both have it', async () =>
      (await Promise.all(shards.map((shard) => limitsOf(shard, crashing)))).every(
        (one) => one === `${30 * MB + OURS} noeviction`,
      ),
    )
  })

  test('refuses less memory than is used if keys may not be evicted, and evicts if any key may', async () => {
    const uid = await create({ memory_size: 20 * MB })
    using client = await asUser(uid)
    await fill(client, 0, 250_000)
    const params = { uid }
    const [shard = 0] = await shardsOf(uid)
    const before = await limitsOf(shard)
    await expect(put(uid, { memory_size: 5 * MB })).rejects.toMatchObject({
      status: 406,
      code: 'memory_size_too_small',
      message: expect.stringMatching(/uses \d.*send \d+ or more/),
    })
    expect(await limitsOf(shard)).toBe(before)
    const dry = { params, query: { dry_run: '' as const }, body: { memory_size: 25 * MB } }
    expect(await fairlead.api.updateDatabase(dry)).toMatchObject({ memory_size: 25 * MB })
    expect(await fairlead.api.getDatabase({ params })).toMatchObject({ memory_size: 20 * MB })
    expect(await limitsOf(shard)).toBe(before)
    await put(uid, { memory_size: 5 * MB, eviction_policy: 'allkeys-random' })
    await until('keys were evicted', async () => Number(await client.call('DBSIZE')) < 200_000)
  })

  // invariant: An unknown field of a request is refused by name.
  test('refuses unknown fields by name, and unknown databases', async () => {
    const uid = await create({ memory_size: 20 * MB })
    await expect(
      put(uid, { shards_count: 2, sharding: false } as Body<typeof updateDatabase>),
    ).rejects.toMatchObject({
      status: 400,
      code: 'field_not_available',
      message: expect.stringMatching(/^shards_count: cannot/),
    })
    await expect(put(uid, { memory_size: 1e15 })).rejects.toMatchObject({
      status: 406,
      code: 'insufficient_resources',
    })
    await expect(put(999, { memory_size: 1 })).rejects.toMatchObject({ status: 404, code: 'db_not_exist' })
    expect(await put(uid, {})).toMatchObject({ uid, status: 'active' })
  })
})

describe('more memory while an upgrade runs', () => {
  test('is granted; less memory, and another policy, are refused', async () => {
    const uid = await create({ memory_size: 20 * MB, engine_version: build('redis', '7.0') })
    const body = { engine_version: build('valkey', '8.1'), supervised: true }
    const { action_uid } = await fairlead.api.upgradeDatabase({ params: { uid }, body })
    await until('it waits for a person', async () => {
      const action = await fairlead.api.getAction({ params: { uid: action_uid ?? '' } })
      return action.needs_person
    })
    for (const change of [{ memory_size: 19 * MB }, { eviction_policy: 'allkeys-lru' as const }])
      await expect(put(uid, change)).rejects.toMatchObject({ status: 409, code: 'db_busy' })
    expect(await put(uid, { memory_size: 40 * MB })).toMatchObject({ action_uid })
    const shards = await shardsOf(uid)
    expect(shards.length).toBe(2)
    await until('old primary and surge shard have it', async () =>
      (await Promise.all(shards.map((shard) => limitsOf(shard)))).every(
        (one) => one === `${40 * MB + OURS} noeviction`,
      ),
    )
    await fairlead.api.resumeAction({ params: { uid: action_uid ?? '' } })
    expect(await fairlead.untilEnded(action_uid)).toMatchObject({ status: 'completed', warnings: [] })
  })

  const [lean, rich] = [findBuild('valkey', '9'), findBuild('redis', '8.0')]
  test.runIf(lean !== undefined && rich !== undefined)(
    'lets a rollback go on that waits because the older build needs more memory',
    async () => {
      const uid = await create({ memory_size: 12 * MB, engine_version: rich ?? '' })
      using client = await asUser(uid)
      await fill(client, 0, 50_000)
      const body = { engine_version: lean ?? '', rollback_window: 'until_finalized' as const }
      const { action_uid: action = '' } = await fairlead.api.upgradeDatabase({ params: { uid }, body })
      const look = () => fairlead.api.getAction({ params: { uid: action } })
      await until('the standby waits', async () => (await look()).certificates.length === 1)
      await fill(client, 50_000, 160_000)
      await fairlead.api.rollbackAction({ params: { uid: action } })
      await until('a person has to look', async () => {
        const { needs_person, hold_reason } = await look()
        return needs_person && hold_reason === 'memory_size'
      })
      expect(await client.call('SET', 'still', 'served')).toBe('OK')
      await put(uid, { memory_size: 30 * MB })
      expect(await fairlead.untilEnded(action)).toMatchObject({ status: 'failed' })
      expect(await fairlead.api.getDatabase({ params: { uid } })).toMatchObject({ engine: 'redis' })
      expect(await client.call('DBSIZE')).toBe(160_001)
    },
  )
})

async function create(body: Partial<Body<typeof createDatabase>>, at = fairlead): Promise<number> {
  const name = freshName('db')
  const { uid, action_uid } = await at.api.createDatabase({
    body: { name, memory_size: 0, eviction_policy: 'noeviction', ...body },
  })
  expect(await at.untilEnded(action_uid)).toMatchObject({ status: 'completed' })
  return uid
}

function put(uid: number, body: Body<typeof updateDatabase>, at = fairlead) {
  return at.api.updateDatabase({ params: { uid }, query: {}, body })
}

async function asUser(uid: number): Promise<EngineConnection> {
  const { endpoints, authentication_engine_pass: password = '' } = await fairlead.api.getDatabase({
    params: { uid },
  })
  const address = { host: '127.0.0.1', port: endpoints[0]?.port ?? 0 }
  const bounds = { connectTimeoutMs: 20_000, commandTimeoutMs: 20_000 }
  return connectEngine({ address, login: { username: 'default', password }, ...bounds })
}

/** Small keys with these numbers, which take different memory in different builds. */
async function fill(client: EngineConnection, from: number, to: number): Promise<void> {
  const script = "for n = ARGV[1], ARGV[2] do redis.call('SET', 'small:' .. n, n) end"
  for (let at = from; at < to; at += 10_000) await client.call('EVAL', script, 0, at, at + 9_999)
}

async function shardsOf(uid: number, at = fairlead): Promise<readonly number[]> {
  return (await at.api.listDatabaseShards({ params: { uid } })).map((shard) => Number(shard.uid))
}

/** "80000000 noeviction" */
async function limitsOf(shard: number, at = fairlead): Promise<string> {
  using admin = await asAdmin(at, shard)
  const info = await admin.info('memory')
  return ['maxmemory', 'maxmemory_policy']
    .map((name) => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1])
    .join(' ')
}
