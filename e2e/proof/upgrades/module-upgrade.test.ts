import type { Body, createDatabase, upgradeModules } from '@fairlead/api'
import { connectEngine, type EngineConnection, type Reply } from '@fairlead/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { build, findBuild } from '../../../proof/engine-pairs.ts'
import { freshName } from '../../../proof/fresh-name.ts'
import { addModule, addTally } from '../../../proof/modules/add-module.ts'
import { testRedisearch } from '../../../proof/modules/redisearch.ts'
import { redisearchPackage } from '../../../proof/modules/redisearch-package.ts'
import { asAdmin, rolesOf } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { upgradeUnderLoad } from '../../../proof/upgrade-under-load.ts'
import { untilAction } from '../../../proof/way-back.ts'

const valkey80 = build('valkey', '8.0')
const valkey81 = build('valkey', '8.1')

let fairlead: Fairlead
/** Uids of the test module, by version. */
let tally: Record<'old' | 'newer' | 'next' | 'hangs', string>
beforeAll(async () => {
  fairlead = await startFairlead()
  tally = {
    old: await addTally(fairlead, '1.0.0'),
    newer: await addTally(fairlead, '1.1.0'),
    next: await addTally(fairlead, '2.0.0'),
    hangs: await addTally(fairlead, '3.0.0', { capabilities: everything }),
  }
})
afterAll(() => fairlead[Symbol.asyncDispose]())

const everything = ['eviction_expiry', 'failover_migrate', 'persistence_aof', 'clustering']

async function create(body: Partial<Body<typeof createDatabase>> = {}): Promise<number> {
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: {
      name: freshName('m'),
      memory_size: 0,
      engine_version: valkey80,
      module_list: [{ module_id: tally.old, module_args: 'STEP 2' }],
      ...body,
    },
  })
  expect(await fairlead.untilEnded(action_uid)).toMatchObject({ status: 'completed' })
  return uid
}

async function asUser(uid: number): Promise<EngineConnection> {
  const { endpoints, authentication_engine_pass: password = '' } = await fairlead.api.getDatabase({
    params: { uid },
  })
  const [first] = endpoints
  return connectEngine({
    address: { host: first?.addr[0] ?? '', port: first?.port ?? 0 },
    login: { username: 'default', password },
    connectTimeoutMs: 20_000,
    commandTimeoutMs: 20_000,
  })
}

async function ask(uid: number, command: string, ...args: readonly string[]): Promise<Reply> {
  using user = await asUser(uid)
  return await user.call(command, ...args)
}

describe('a module upgrade', () => {
  test('answers when the module is updated: another version, the same arguments, the same data', async () => {
    const uid = await create({ replication: true })
    expect(await ask(uid, 'TALLY.ADD', 'k')).toBe(2)
    const answer = await fairlead.api.upgradeModules({
      params: { uid },
      body: { modules: [{ current_module: tally.old, new_module: tally.next }] },
    })
    const expected = {
      module_id: tally.next,
      module_name: 'tally',
      semantic_version: '2.0.0',
      module_args: 'STEP 2',
    }
    expect(answer).toMatchObject({
      uid,
      name: expect.stringMatching(/^m-/),
      ...expected,
      modules: [expected],
    })
    expect(await fairlead.api.getAction({ params: { uid: answer.action_uid ?? '' } })).toMatchObject({
      status: 'completed',
      certificates: [{ full_syncs: 0 }],
    })
    const database = await fairlead.api.getDatabase({ params: { uid } })
    expect(database).toMatchObject({ status: 'active', module_list: [expected] })
    expect(`valkey-${database.engine_version}`).toBe(valkey80)
    expect(await ask(uid, 'TALLY.ADD', 'k')).toBe(4)
    expect(await ask(uid, 'TALLY.NAME', 'k', 'name')).toBe('OK')
    expect(await rolesOf(fairlead, uid)).toEqual(['primary', 'replica'])
  })

  test('takes the other set of keys, a single module without the list, and the older path', async () => {
    const uid = await create()
    const first = await fairlead.api.upgradeModulesOlder({
      params: { uid },
      body: {
        module_name: 'tally',
        current_semantic_version: '1.0.0',
        new_module: tally.newer,
        new_module_args: ['STEP', '7'],
      },
    })
    expect(first).toMatchObject({ semantic_version: '1.1.0', module_args: 'STEP 7' })
    expect(await ask(uid, 'TALLY.ADD', 'k')).toBe(7)
    const second = await fairlead.api.upgradeModules({
      params: { uid },
      body: { current_module: tally.newer, new_module: tally.newer, new_module_args: '' },
    })
    expect(second).toMatchObject({ semantic_version: '1.1.0', module_args: '' })
    expect(await ask(uid, 'TALLY.ADD', 'k')).toBe(8)
  })

  test('that would change nothing answers with an action that is completed', async () => {
    const uid = await create()
    const body = { current_module: tally.old, new_module: tally.old }
    const { action_uid } = await fairlead.api.upgradeModules({ params: { uid }, body })
    const action = await fairlead.api.getAction({ params: { uid: action_uid ?? '' } })
    expect(action).toMatchObject({ status: 'completed', progress: 100 })
  })

  test('answers at once when that is preferred, and goes on when the client hangs up', async () => {
    const uid = await create()
    const post = (init: RequestInit) =>
      fetch(`${fairlead.url}/v1/bdbs/${uid}/modules/upgrade`, {
        method: 'POST',
        body: JSON.stringify({ module_name: 'tally', new_module: tally.next, force_restart: true }),
        ...init,
        headers: {
          authorization: `Bearer ${fairlead.token}`,
          'content-type': 'application/json',
          ...init.headers,
        },
      })
    const atOnce = await post({ headers: { prefer: 'respond-async' } })
    const answer = (await atOnce.json()) as { action_uid: string; semantic_version: string }
    expect(answer.semantic_version).toBe('1.0.0')
    expect(await fairlead.untilEnded(answer.action_uid)).toMatchObject({ status: 'completed' })

    const hangUp = new AbortController()
    const asked = post({ signal: hangUp.signal }).catch(() => 'hung up')
    const running = await until('it runs', async () => {
      return (await fairlead.api.getDatabase({ params: { uid } })).action_uid
    })
    hangUp.abort()
    expect(await asked).toBe('hung up')
    expect(await fairlead.untilEnded(running)).toMatchObject({ status: 'completed' })
  })

  test('with arguments that the module rejects fails with the engine’s own words, without the arguments, and the database serves', async () => {
    const uid = await create({ replication: true })
    const refused = fairlead.api.upgradeModules({
      params: { uid },
      body: { current_module: tally.old, new_module: tally.next, new_module_args: 'STOP 1' },
    })
    await expect(refused).rejects.toMatchObject({
      status: 406,
      code: 'upgrade_failed',
      message: expect.stringMatching(/trial.*'\*{3}' is unknown/s),
    })
    const [action] = await fairlead.api.listDatabaseActions({ params: { uid } })
    expect(action).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/'\*{3}' is unknown/),
    })
    expect(await fairlead.api.getDatabase({ params: { uid } })).toMatchObject({
      status: 'active',
      module_list: [{ module_id: tally.old, module_args: 'STEP 2' }],
    })
    expect(await ask(uid, 'TALLY.ADD', 'k')).toBe(2)
    expect(await rolesOf(fairlead, uid)).toEqual(['primary', 'replica'])
  })

  // invariant: A module that loads and then hangs is found before any shard runs it.
  test('to a version that loads and then hangs is caught by its self-test', async () => {
    const uid = await create()
    const refused = fairlead.api.upgradeModules({
      params: { uid },
      body: { current_module: tally.old, new_module: tally.hangs },
    })
    await expect(refused).rejects.toMatchObject({
      code: 'upgrade_failed',
      message: expect.stringMatching(/TALLY\.GET/),
    })
    expect(await ask(uid, 'TALLY.ADD', 'k')).toBe(2)
  })
})

describe('a module upgrade is refused before anything is touched', () => {
  const none = '0'.repeat(32)
  test('with the code of the specification, each with its status', async () => {
    const newer = await addTally(fairlead, '2.0.0', {
      semantic_version: '4.0.0',
      version: 40000,
      min_redis_version: '99.0',
    })
    const pack = await addTally(fairlead, '2.0.0', {
      semantic_version: '4.1.0',
      version: 40100,
      min_redis_pack_version: '99.0',
    })
    const poor = await addTally(fairlead, '2.0.0', {
      semantic_version: '4.2.0',
      version: 40200,
      capabilities: ['types'],
    })
    const uid = await create({ replication: true, module_list: [{ module_id: tally.newer }] })
    const refusals: readonly (readonly [Body<typeof upgradeModules>, number, string])[] = [
      [{ current_module: tally.newer, new_module: none }, 406, 'missing_module'],
      [{ current_module: tally.newer, new_module: tally.old }, 406, 'module_downgrade_unsupported'],
      [{ current_module: tally.newer, new_module: newer }, 406, 'engine_incompatible_version'],
      [{ current_module: tally.newer, new_module: pack }, 406, 'engine_pack_incompatible_version'],
      [{ current_module: tally.newer, new_module: poor }, 406, 'unsupported_module_capabilities'],
      [{ new_module: tally.next }, 400, 'invalid_request'],
      [{}, 400, 'invalid_request'],
      [{ module_name: 'tally', modules: [{ module_name: 'tally' }] }, 400, 'conflicting_fields'],
      [{ modules: [{ module_name: 'tally', new_module_args: 'STEP "1' }] }, 400, 'invalid_request'],
    ]
    for (const [body, status, code] of refusals) {
      const refused = fairlead.api.upgradeModules({ params: { uid }, body })
      await expect(refused, JSON.stringify(body)).rejects.toMatchObject({ status, code })
    }
    const unknown = fairlead.api.upgradeModules({ params: { uid: 4711 }, body: { module_name: 'tally' } })
    await expect(unknown).rejects.toMatchObject({ status: 404, code: 'db_not_exist' })
    expect(await fairlead.api.getDatabase({ params: { uid } })).not.toHaveProperty('action_uid')
    await expect(fairlead.api.deleteModule({ params: { uid: tally.newer } })).rejects.toMatchObject({
      status: 406,
      code: 'module_in_use',
    })
    for (const uid of [newer, pack, poor]) await fairlead.api.deleteModule({ params: { uid } })
  })
})

describe('a database upgrade', () => {
  test('raises engine and modules in one restart, and says so before', async () => {
    const uid = await create({ replication: true, engine_version: valkey80 })
    await ask(uid, 'TALLY.ADD', 'k')
    const body = { engine_version: valkey81, modules: [{ module_name: 'tally', new_module: tally.next }] }
    const { plan } = await fairlead.api.upgradeDatabase({ params: { uid }, query: { dry_run: '' }, body })
    expect(plan).toMatchObject({
      modules: [{ module_name: 'tally', semantic_version: '2.0.0' }],
      handovers: 1,
      trial: { ok: true },
    })
    const { action_uid } = await fairlead.api.upgradeDatabase({ params: { uid }, body })
    expect(await fairlead.untilEnded(action_uid)).toMatchObject({
      status: 'completed',
      certificates: [{ full_syncs: 0 }],
    })
    const after = await fairlead.api.getDatabase({ params: { uid } })
    expect(after).toMatchObject({ module_list: [{ semantic_version: '2.0.0', module_args: 'STEP 2' }] })
    expect(`valkey-${after.engine_version}`).toBe(valkey81)
    expect(await ask(uid, 'TALLY.GET', 'k')).toBe(2)
  })

  test('with latest_with_modules takes the newest engine and module that fit together', async () => {
    const uid = await create()
    const body = { latest_with_modules: true }
    const { plan } = await fairlead.api.upgradeDatabase({ params: { uid }, query: { dry_run: '' }, body })
    // The newest version hangs, and its trial finds that.
    expect(plan).toMatchObject({
      change: true,
      modules: [{ module_name: 'tally', semantic_version: '3.0.0' }],
      trial: { ok: false, why: expect.stringMatching(/TALLY\.GET/) },
    })
    expect(`valkey-${plan?.engine_version}`).toBe(findBuild('valkey'))
  })

  test('can be rolled back until a write needs the new module, and says when it cannot', async () => {
    const uid = await create({ replication: true })
    await ask(uid, 'TALLY.ADD', 'k')
    const body = {
      keep_engine_version: true,
      modules: [{ module_name: 'tally', new_module: tally.next }],
      rollback_window: 'until_finalized' as const,
    }
    const begin = async () => (await fairlead.api.upgradeDatabase({ params: { uid }, body })).action_uid ?? ''
    const first = await begin()
    await untilAction(fairlead, first, 'it can be rolled back', ({ needs_person, rollback_eligible }) => {
      return needs_person && rollback_eligible === true
    })
    await ask(uid, 'TALLY.ADD', 'k')
    await fairlead.api.rollbackAction({ params: { uid: first } })
    expect(await fairlead.untilEnded(first)).toMatchObject({
      status: 'failed',
      outcome: 'rolled_back',
    })
    expect(await ask(uid, 'TALLY.GET', 'k')).toBe(4)
    expect(await fairlead.api.getDatabase({ params: { uid } })).toMatchObject({
      module_list: [{ semantic_version: '1.0.0' }],
    })

    const second = await begin()
    await untilAction(fairlead, second, 'it can be rolled back', ({ needs_person, rollback_eligible }) => {
      return needs_person && rollback_eligible === true
    })
    await ask(uid, 'TALLY.NAME', 'k', 'only 2.0 knows this')
    const closed = await untilAction(
      fairlead,
      second,
      'it cannot',
      ({ rollback_eligible }) => rollback_eligible === false,
    )
    expect(closed.rollback_obstacle).toBe('data_differs')
    await expect(fairlead.api.rollbackAction({ params: { uid: second } })).rejects.toMatchObject({
      code: 'rollback_not_possible',
    })
    await fairlead.api.finalizeAction({ params: { uid: second } })
    expect(await fairlead.untilEnded(second)).toMatchObject({ status: 'completed' })
    for (const shard of (await fairlead.api.getDatabase({ params: { uid } })).shard_list) {
      using admin = await asAdmin(fairlead, shard)
      await until(
        'both hold the name',
        async () => (await admin.call('TALLY.NAMEOF', 'k')) === 'only 2.0 knows this',
      )
    }
  })
})

describe('nothing acknowledged is lost while a module is upgraded', () => {
  for (const [what, shape] of [
    ['on a replicated database', { replication: true, persistence: 'aof' }],
    ['on a single shard', { replication: false }],
    ['on three groups', { replication: true, groups: 3 }],
  ] as const) {
    test(what, async () => {
      await using fresh = await startFairlead()
      const old = await addTally(fresh, '1.0.0')
      const next = await addTally(fresh, '2.0.0')
      const proof = await upgradeUnderLoad(fresh, {
        from: valkey80,
        to: valkey80,
        kind: 'incr',
        perSecond: 5_000,
        warmUp: 3_000,
        ...shape,
        modules: {
          list: [{ module_id: old }],
          upgrade: [{ current_module: old, new_module: next }],
        },
      })
      expect(proof.examples).toEqual([])
      expect({ lost: proof.lost, twice: proof.duplicated, fullSyncs: proof.fullSyncs }).toEqual({
        lost: 0,
        twice: 0,
        fullSyncs: 0,
      })
      expect(proof.certificates.length).toBe('groups' in shape ? 3 : 1)
    })
  }
})

test('RediSearch keeps an index and its documents through an engine upgrade and new arguments, and is refused on an engine that it hangs', async ({
  skip,
}) => {
  const file = await testRedisearch()
  if (file === null) return skip('Debian has no RediSearch for this machine')
  await addModule(fairlead, await redisearchPackage(), file)
  const uid = await create({
    engine_version: build('redis', '7.0'),
    replication: true,
    eviction_policy: 'noeviction',
    module_list: [{ module_name: 'ft' }],
  })
  await ask(uid, 'FT.CREATE', 'books', 'SCHEMA', 'title', 'TEXT')
  await ask(uid, 'FT.ADD', 'books', 'one', '1', 'FIELDS', 'title', 'the old man and the sea')
  const found = async () => (await ask(uid, 'FT.SEARCH', 'books', 'sea')) as readonly Reply[]
  expect((await found())[0]).toBe(1)

  const { action_uid } = await fairlead.api.upgradeDatabase({
    params: { uid },
    body: { engine_version: valkey80 },
  })
  expect(await fairlead.untilEnded(action_uid)).toMatchObject({
    status: 'completed',
    certificates: [{ full_syncs: 0 }],
  })
  expect((await found()).slice(0, 2)).toEqual([1, 'one'])

  const [module] = (await fairlead.api.getDatabase({ params: { uid } })).module_list
  await fairlead.api.upgradeModules({
    params: { uid },
    body: {
      current_module: module?.module_id ?? '',
      new_module: module?.module_id ?? '',
      new_module_args: 'MINPREFIX 3',
    },
  })
  expect((await found()).slice(0, 2)).toEqual([1, 'one'])

  const hung = await fairlead.api.upgradeDatabase({ params: { uid }, body: { engine_version: valkey81 } })
  expect(await fairlead.untilEnded(hung.action_uid)).toMatchObject({
    status: 'failed',
    error: expect.stringMatching(/trial.*FT\.CREATE/s),
  })
  expect((await found()).slice(0, 2)).toEqual([1, 'one'])
  expect(await fairlead.api.getDatabase({ params: { uid } })).toMatchObject({
    status: 'active',
    module_list: [{ module_name: 'ft', module_args: 'MINPREFIX 3' }],
  })
})
