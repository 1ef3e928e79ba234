import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, upgradeDatabase } from '@fairlead/api'
import { createMutex } from '@fairlead/engine'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestStore } from '../../../test/open-test-store.ts'
import { databaseOf, shardOf } from '../../../test/records.ts'
import { groupOf } from '../../../test/simulation/group.ts'
import { onlyLoopback } from '../../core/state/endpoint-reach.ts'
import { plainPolicy } from '../../core/state/goal.ts'
import type { ObservedGroup } from '../../core/state/topology.ts'
import { expectedBases, tagWithBasis } from '../../http/mount.ts'
import type { Store } from '../../store/open-store.ts'
import { createDatabases } from '../databases/databases-service.ts'
import { actionsStore } from '../stores/actions-store.ts'
import { databasesStore } from '../stores/databases-store.ts'
import { shardsStore } from '../stores/shards-store.ts'
import { createUpgrades } from './upgrades-service.ts'

const at = '2026-11-21T12:00:00.000Z'
const by = { uid: 1, name: 'admin', address: null }
const request = {
  forceRestart: false,
  keepEngineVersion: false,
  latestWithModules: false,
  preserveRoles: false,
  swapRoles: false,
  mayDiscard: false,
  forceDiscard: false,
  policy: plainPolicy,
  modules: [],
  engineVersion: 'redis-8.0',
}
const buildOf = (version: string) => {
  return { flavour: 'redis', version, path: '', source: 'path', holes: [], refusedFor: [] as string[] }
}

let folder: string
let store: Store
/** Facts from outside of the store. */
let world: {
  builds: ReturnType<typeof buildOf>[]
  modules: { uid: string; name: string }[]
  group: ObservedGroup
  whileTried: () => Promise<unknown>
}
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-plans-'))
  store = await openTestStore(join(folder, 'store.db'))
  world = {
    builds: [buildOf('7.0.15'), buildOf('8.0.2')],
    modules: [],
    group: { ...groupOf(1), node: { memoryFreeBytes: 200e6, diskFreeBytes: 1e12 } },
    whileTried: async () => undefined,
  }
  const { db } = store
  const { uid } = await databasesStore(db).insert({ ...databaseOf({ clientsKnowShards: false }), groups: 1 })
  for (const port of [10_000, 10_001]) await shardsStore(db).insert(shardOf(0, { port }), at)
  await databasesStore(db).setPrimary(uid, 0, 1)
  await databasesStore(db).setStatus(uid, 'active', at)
  await databasesStore(db).insert({ ...databaseOf({ name: 'another' }), groups: 1 })
})
afterEach(async () => {
  await store[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

function upgradesHere() {
  const nodes = { builds: async () => world.builds, describe: async () => null }
  const modules = { list: async () => world.modules }
  const ports = { portRange: { from: 10_000, to: 10_003 }, askedPorts: { from: 11_000, to: 11_001 } }
  const rest = { shardTls: false, runExclusive: createMutex(), nudge: () => undefined, now: () => 0 }
  const reach = () => onlyLoopback
  const databases = createDatabases({ store, nodes, modules, reach, ...ports, ...rest } as never)
  const tryRuns = async () => {
    await world.whileTried()
    return { ok: true, why: '', startMs: 40, version: '8.0.2' }
  }
  const look = async () => ({ groups: [world.group] })
  return createUpgrades({ databases, nodes, modules, actions: {}, look, tryRuns } as never)
}

const basisOf = async (but: object = {}) => (await upgradesHere().foresee(1, { ...request, ...but })).basis

async function expectOutdated(basis: string, but: object = {}): Promise<void> {
  const before = await databasesStore(store.db).get(1)
  const started = upgradesHere().start(1, { ...request, ...but }, by, [basis])
  await expect(started).rejects.toMatchObject({ code: 'plan_outdated', status: 409 })
  expect(await actionsStore(store.db).active(1)).toBeUndefined()
  expect(await databasesStore(store.db).get(1)).toEqual(before)
}

test('an upgrade is begun on the basis of its plan, and without one, whatever has changed', async () => {
  const basis = await basisOf()
  expect(await basisOf()).toBe(basis)
  await upgradesHere().start(1, request, by, ['another', basis])
  expect(await actionsStore(store.db).active(1)).toMatchObject({ kind: 'upgrade' })
})

test('what is only measured changes no plan', async () => {
  const basis = await basisOf()
  const [primary, ...others] = world.group.shards
  if (primary?.engine == null) throw new Error('the primary answers')
  const busier = { ...primary, engine: { ...primary.engine, keys: 1e6, offset: 1e9, upSeconds: 1e5 } }
  const node = { memoryFreeBytes: 190e6, diskFreeBytes: 1e9 }
  world.group = { ...world.group, node, shards: [busier, ...others] }
  await databasesStore(store.db).setStatus(1, 'active', '2026-11-22T12:00:00.000Z')
  expect(await basisOf()).toBe(basis)
})

const changes: Readonly<Record<string, () => Promise<unknown>>> = {
  'memory_size of the database': () =>
    databasesStore(store.db).setSettings(1, { memoryBytes: 5e9, evictionPolicy: 'noeviction' }, at),
  'the shard that is primary': () => databasesStore(store.db).setPrimary(1, 0, 2),
  'the shards': () => shardsStore(store.db).insert(shardOf(0, { port: 10_002 }), at),
  'what a shard runs': () => shardsStore(store.db).setRuns(2, { ...buildRuns, restartNonce: 1 }),
  'a build that came': async () => world.builds.push(buildOf('8.0.3')),
  'a build that went': async () => world.builds.shift(),
  'a hole that became known': async () => Object.assign(world.builds[0] ?? {}, { holes: [{ id: 'CVE-1' }] }),
  'free ports': async () => {
    for (const port of [10_002, 10_003])
      await shardsStore(store.db).insert(shardOf(0, { databaseUid: 2, port }), at)
  },
  'free memory': async () => {
    world.group = { ...world.group, node: { memoryFreeBytes: 0, diskFreeBytes: 1e12 } }
  },
}
const buildRuns = { build: { flavour: 'redis', version: '7.0.15' }, restartNonce: 0, modules: [] }

test.each(Object.keys(changes).filter((name) => name !== 'free ports'))(
  'a plan is outdated after a change of: %s',
  async (name) => {
    const basis = await basisOf()
    await changes[name]?.()
    await expectOutdated(basis, name === 'a build that came' ? { engineVersion: '8.0.2' } : {})
  },
)

test('a plan belongs to its request, and a dry run says whether it still is the same', async () => {
  const basis = await basisOf()
  for (const but of [
    { preserveRoles: true },
    { policy: { ...plainPolicy, rollbackWindow: 60 } },
    { policy: { ...plainPolicy, supervised: true } },
    { keepEngineVersion: true, engineVersion: undefined },
  ]) {
    await expectOutdated(basis, but)
    await expect(upgradesHere().foresee(1, { ...request, ...but }, [basis])).rejects.toMatchObject({
      code: 'plan_outdated',
    })
  }
  expect((await upgradesHere().foresee(1, request, [basis])).basis).toBe(basis)
})

test.each(['memory_size of the database', 'the shards', 'free ports'])(
  'a change of %s between the look and the acceptance is seen by the transaction that accepts the upgrade',
  async (name) => {
    const basis = await basisOf({ forceDiscard: true })
    world.whileTried = async () => changes[name]?.()
    const started = upgradesHere().start(1, { ...request, forceDiscard: true }, by, [basis])
    await expect(started).rejects.toMatchObject({ code: 'plan_outdated' })
    expect(await actionsStore(store.db).active(1)).toBeUndefined()
  },
)

test('memory that another upgrade reserves between the look and the acceptance outdates a plan only where it was needed', async () => {
  const reserve = (reservedBytes: number, port: number) =>
    shardsStore(store.db).insert(shardOf(0, { databaseUid: 2, port, reservedBytes }), at)
  const but = { forceDiscard: true }
  const basis = await basisOf(but)
  world.whileTried = () => reserve(1e9, 20_000)
  const started = upgradesHere().start(1, { ...request, ...but }, by, [basis])
  await expect(started).rejects.toMatchObject({ code: 'plan_outdated' })
  world.whileTried = () => reserve(1e6, 20_001)
  await upgradesHere().start(1, { ...request, ...but }, by, [basis])
})

test('If-Match names bases in quotes or without, a weak tag matches none, and * is no condition', () => {
  const read = (value?: string) =>
    expectedBases({ headers: value === undefined ? {} : { 'if-match': value } } as never)
  expect(read()).toBeUndefined()
  expect(read('')).toBeUndefined()
  expect(read('*')).toBeUndefined()
  expect(read('"a"')).toEqual(['a'])
  expect(read('a')).toEqual(['a'])
  expect(read('"a", "b" ,W/"c"')).toEqual(['a', 'b'])
  expect(read('W/"c"')).toEqual([])
})

test('the answer of a dry run has its basis as ETag, and the typed client sends one in quotes', async () => {
  const heard: (readonly [string, string])[] = []
  const reply = { header: (name: string, value: string) => heard.push([name, value]) } as never
  tagWithBasis({ plan: { basis: 'abc' } }, reply)
  tagWithBasis({ uid: 1 }, reply)
  expect(heard).toEqual([['etag', '"abc"']])
  const sent: unknown[] = []
  const client = createClient({ upgradeDatabase }, async ({ headers }) => {
    sent.push(headers['if-match'])
    return { status: 200, text: '{}' }
  })
  await client.upgradeDatabase({ params: { uid: 1 }, body: {}, basis: 'abc' })
  await client.upgradeDatabase({ params: { uid: 1 }, body: {} })
  expect(sent).toEqual(['"abc"', undefined])
})
