import { ApiError } from '@fairlead/api'
import { type EngineConnection, EngineUnreachable } from '@fairlead/engine'
import { startLoad } from '@fairlead/ledger'
import { describe, expect, test } from 'vitest'
import { build, findBuild } from '../../../proof/engine-pairs.ts'
import { asAdmin, lastWordsOf, rolesOf } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { type Proof, upgradeUnderLoad } from '../../../proof/upgrade-under-load.ts'
import { untilAction } from '../../../proof/way-back.ts'
import { smallDisk } from '../../support/small-disk.ts'

const redis70 = build('redis', '7.0')
const valkey81 = build('valkey', '8.1')
const [redis80, valkey9] = [findBuild('redis', '8.0'), findBuild('valkey', '9')]

const light = { warmUp: 3_000, perSecond: 4_000, connections: 12 }
/** Less than what any surge shard needs. */
const noMemory = { FAIRLEAD_NODE_MEMORY_MB: '90' }

function expectNothingLost({ examples, lost, duplicated, fullSyncs }: Proof): void {
  expect(examples).toEqual([])
  expect({ lost, duplicated, fullSyncs }).toEqual({ lost: 0, duplicated: 0, fullSyncs: 0 })
}

async function create(fairlead: Fairlead, engine: string, fields: object = {}): Promise<number> {
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: { name: 'adverse', memory_size: 0, replication: true, engine_version: engine, ...fields },
  })
  const action = await fairlead.untilEnded(action_uid)
  expect(action.status, action.error).toBe('completed')
  return uid
}

async function upgrade({ api }: Fairlead, uid: number, to: string, fields: object = {}): Promise<string> {
  const body = { engine_version: to, ...fields }
  return (await api.upgradeDatabase({ params: { uid }, body })).action_uid ?? ''
}

async function loadOn(fairlead: Fairlead, uid: number) {
  const { authentication_engine_pass: password = '' } = await fairlead.api.getDatabase({ params: { uid } })
  const lookup = { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token }
  return startLoad({ kind: 'incr', connections: 8, perSecond: 2_000, password, lookup })
}

test('a single shard that finds no memory for a surge shard is refused the upgrade, and nothing changes', async () => {
  await using fairlead = await startFairlead({ env: noMemory })
  const uid = await create(fairlead, redis70, { replication: false })
  await expect(upgrade(fairlead, uid, valkey81)).rejects.toMatchObject({
    status: 406,
    code: 'upgrade_would_discard_data',
    message: expect.stringContaining('may_discard_data'),
  })
  expect(await fairlead.api.getDatabase({ params: { uid } })).toMatchObject({
    status: 'active',
    engine: 'redis',
    shard_list: [1],
  })
})

test('a single shard that keeps its data on disk restarts in place where there is no memory, and loses nothing', async () => {
  await using fairlead = await startFairlead({ env: noMemory })
  const pair = { from: redis70, to: valkey81 }
  const proof = await upgradeUnderLoad(fairlead, {
    ...pair,
    ...light,
    kind: 'incr',
    replication: false,
    persistence: 'aof',
  })
  expectNothingLost(proof)
  expect(proof.certificates).toEqual([])
})

test('without memory for surge shards the groups of a sharded database are upgraded in place', async () => {
  await using fairlead = await startFairlead({ env: noMemory })
  const pair = { from: build('valkey', '8.0'), to: valkey81 }
  const proof = await upgradeUnderLoad(fairlead, { ...pair, ...light, kind: 'incr', groups: 3 })
  expectNothingLost(proof)
  expect(proof.certificates).toHaveLength(3)
})

test('a replica without a link is waited for, and the upgrade goes on when it is linked again', async () => {
  await using fairlead = await startFairlead()
  const uid = await create(fairlead, redis70)
  await using load = await loadOn(fairlead, uid)
  await load.untilAcked(1_000)
  using replica = await asAdmin(fairlead, 2)
  const [, secret] = (await replica.call('CONFIG', 'GET', 'masterauth')) as [string, string]
  await replica.call('CONFIG', 'SET', 'masterauth', 'wrong')
  await replica.call('CLIENT', 'KILL', 'TYPE', 'master')
  const action = await upgrade(fairlead, uid, valkey81)
  const waiting = await untilAction(fairlead, action, 'it waits', ({ state }) => state === 'wait')
  expect(waiting.hold_reason).toBe('replication')
  expect(await fairlead.api.listDatabaseShards({ params: { uid } })).toHaveLength(2)

  await replica.call('CONFIG', 'SET', 'masterauth', secret)
  const end = await fairlead.untilEnded(action)
  expect(end.status, end.error).toBe('completed')
  await load.untilAcked(load.acked() + 1_000)
  await load.stop()
  expect(await load.readBack()).toMatchObject({ lost: 0, duplicated: 0 })
})

/**
 * Keeps an engine at 100 % CPU with scripts that take a tenth of a second each, until it is stopped or the
 * process ends. The scripts do not write, so a pause of writes does not hold them.
 */
function burn(connection: EngineConnection): AsyncDisposable {
  const stop = new AbortController()
  const burning = (async () => {
    try {
      while (!stop.signal.aborted) await connection.call('EVAL_RO', 'for i=1,5000000 do end', 0)
    } catch (error) {
      if (!(error instanceof EngineUnreachable)) throw error
    }
  })()
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await burning
    },
  }
}

test('a primary that is busy still hands over, and loses nothing', async () => {
  await using fairlead = await startFairlead()
  const uid = await create(fairlead, redis70)
  await using load = await loadOn(fairlead, uid)
  await load.untilAcked(1_000)
  using primary = await asAdmin(fairlead, 1)
  {
    await using _ = burn(primary)
    const end = await fairlead.untilEnded(await upgrade(fairlead, uid, valkey81))
    expect(end.status, end.error).toBe('completed')
    expect(end.certificates).toMatchObject([{ full_syncs: 0 }])
  }
  await load.untilAcked(load.acked() + 1_000)
  await load.stop()
  expect(await load.readBack()).toMatchObject({ lost: 0, duplicated: 0 })
  expect(await rolesOf(fairlead, uid)).toEqual(['primary', 'replica'])
})

describe('a backlog that is too small for what is written', () => {
  for (const { what, env } of [
    { what: 'with surge shards', env: {} },
    { what: 'in place', env: noMemory },
  ]) {
    test(`costs no full sync, ${what}`, async () => {
      await using fairlead = await startFairlead({ env })
      const proof = await upgradeUnderLoad(fairlead, {
        from: redis70,
        to: valkey81,
        kind: 'set',
        preserveRoles: true,
        ...light,
        perSecond: 10_000,
        async beforehand() {
          using primary = await asAdmin(fairlead, 1)
          await primary.call('CONFIG', 'SET', 'repl-backlog-size', '16kb')
        },
      })
      expectNothingLost(proof)
      expect(proof.certificates.map(({ full_syncs }) => full_syncs)).toEqual([0, 0])
    })
  }
})

describe('data that the target cannot read end the upgrade, with what the engine said, and nothing is lost', () => {
  const cases = [
    {
      what: 'a library of functions that breaks on the newer version',
      from: redis70,
      to: valkey81,
      words: ['FUNCTION', 'LOAD', libraryFor70()],
      says: /Failed loading library.*Failed trying to load the PRIMARY synchronization DB/,
    },
    {
      what: 'fields of a hash with an end of their own',
      from: valkey9,
      to: redis80,
      words: ['HPEXPIRE', 'hash', '600000', 'FIELDS', '1', 'field'],
      says: /I\/O error reading bulk count/,
    },
  ] as const
  for (const { what, from, to, words, says } of cases) {
    test.skipIf(!from || !to)(`${from} → ${to}: ${what}`, async () => {
      await using fairlead = await startFairlead()
      const uid = await create(fairlead, from ?? '')
      await using load = await loadOn(fairlead, uid)
      await load.untilAcked(500)
      using primary = await asAdmin(fairlead, 1)
      await primary.call('HSET', 'hash', 'field', '1')
      const [name, ...args] = words
      await primary.call(name, ...args)
      const end = await fairlead.untilEnded(await upgrade(fairlead, uid, to ?? ''), 100_000)
      expect(end.status).toBe('failed')
      expect(end.error, lastWordsOf(fairlead)).toMatch(says)
      expect(await fairlead.api.getDatabase({ params: { uid } })).toMatchObject({
        status: 'active',
        shard_list: [1, 2],
        engine: from?.split('-')[0],
      })
      expect(await rolesOf(fairlead, uid)).toEqual(['primary', 'replica'])
      await load.untilAcked(load.acked() + 500)
      await load.stop()
      expect(await load.readBack()).toMatchObject({ lost: 0, duplicated: 0 })
    })
  }
})

/** A library that was written for one version, and breaks when a newer one loads it. */
function libraryFor70(): string {
  return `#!lua name=old
    if redis.REDIS_VERSION_NUM >= 0x00070100 then redis.not_any_more() end
    redis.register_function('one', function() return 1 end)`
}

test.runIf(process.getuid?.() === 0)(
  'a disk that fills up during an upgrade delays the upgrade, and stops no client; with room again it goes on',
  {
    timeout: 180_000,
  },
  async () => {
    using disk = smallDisk(600)
    await using fairlead = await startFairlead({ parent: disk.folder })
    const uid = await create(fairlead, redis70)
    await using load = await loadOn(fairlead, uid)
    await load.untilAcked(1_000)
    const action = await upgrade(fairlead, uid, valkey81, { supervised: true })
    await untilAction(fairlead, action, 'it is ready', ({ needs_person }) => needs_person)
    const resume = () => fairlead.api.resumeAction({ params: { uid: action } })
    {
      using _ = disk.fill()
      const given = await resume().catch((error: Error) => error)
      await load.untilAcked(load.acked() + 10_000)
      await until(
        'all shards answer',
        async () => (await rolesOf(fairlead, uid)).join() === 'primary,replica,replica',
      )
      expect(given).toBeInstanceOf(ApiError)
    }
    await resume()
    const end = await fairlead.untilEnded(action, 120_000)
    expect(end.status, end.error).toBe('completed')
    await load.untilAcked(load.acked() + 1_000)
    await load.stop()
    expect(await load.readBack()).toMatchObject({ lost: 0, duplicated: 0 })
    await until('both answer', async () => (await rolesOf(fairlead, uid)).join() === 'primary,replica')
  },
)

// invariant: Nothing changes the slot map while the disk is almost full.
test.runIf(process.getuid?.() === 0)(
  'with almost no disk left no role of a sharded database moves, because its engines would end themselves; with room again the upgrade goes on',
  { timeout: 180_000 },
  async () => {
    using disk = smallDisk(300)
    await using fairlead = await startFairlead({ parent: disk.folder })
    const uid = await create(fairlead, redis70, { replication: false, shards_count: 2 })
    await using load = await loadOn(fairlead, uid)
    await load.untilAcked(1_000)
    const action = await upgrade(fairlead, uid, valkey81, { supervised: true })
    await untilAction(fairlead, action, 'it is ready', ({ needs_person }) => needs_person)
    {
      using _ = disk.fill(8 * 1024 * 1024)
      await fairlead.api.resumeAction({ params: { uid: action } })
      const waiting = await untilAction(
        fairlead,
        action,
        'it says why, or goes on',
        ({ hold_reason, status }) => hold_reason === 'node_room' || status === 'completed',
      )
      expect(waiting).toMatchObject({
        needs_person: true,
        certificates: [],
        waiting_for: expect.stringMatching(/ \d MB .* 18 MB /),
      })
      await load.untilAcked(load.acked() + 1_000)
    }
    const end = await fairlead.untilEnded(action, 120_000)
    expect(end.status, end.error).toBe('completed')
    const { errors } = await load.stop()
    expect({ errors, ...(await load.readBack()) }).toMatchObject({ errors: {}, lost: 0, duplicated: 0 })
  },
)
