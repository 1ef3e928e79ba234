import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMutex } from '@fairlead/engine'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Module } from '../../../../../src/core/modules/module.ts'
import { steadyGoal } from '../../../../../src/core/state/database.ts'
import { onlyLoopback } from '../../../../../src/core/state/endpoint-reach.ts'
import {
  createDatabases,
  type DatabaseRequest,
} from '../../../../../src/fleet/databases/databases-service.ts'
import { actionsStore } from '../../../../../src/fleet/stores/actions-store.ts'
import type { Nodes } from '../../../../../src/nodes/nodes-service.ts'
import type { Store } from '../../../../../src/store/open-store.ts'
import { openTestStore } from '../../../../open-test-store.ts'

const build = { flavour: 'valkey', version: '8.1.1' } as const
const gone: Module = {
  uid: 'a'.repeat(32),
  name: 'tally',
  displayName: 'Tally',
  semanticVersion: '1.0.0',
  version: 10_000,
  capabilities: ['persistence_rdb'],
  capabilityName: 'Tally',
  minEngineVersion: null,
  compatibleEngineVersion: null,
  minEnginePackVersion: null,
  commandLineArgs: '',
  configCommand: '',
  commands: [],
  selfTest: [],
  moduleFile: '',
  author: '',
  email: '',
  description: '',
  homepage: '',
  license: '',
  featureSets: null,
  bigstoreVersion2: false,
  sha256: 'f'.repeat(64),
  sizeBytes: 1,
  createdAt: '',
}
const request: DatabaseRequest = {
  name: 'orders',
  memoryBytes: 0,
  groups: 1,
  cluster: false,
  replicas: 0,
  clientsKnowShards: false,
  persistence: 'disabled',
  aofFsync: 'everysec',
  snapshots: [],
  evictionPolicy: 'noeviction',
  tls: false,
  endpointPort: null,
  engineVersion: undefined,
  modules: [],
  userPassword: undefined,
}
const by = { uid: 1, name: 'admin', address: null }

let folder: string
let store: Store
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-databases-'))
  store = await openTestStore(join(folder, 'store.db'))
})
afterEach(async () => {
  await store[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** The catalogue as it was read a moment ago: what it names has been deleted since. */
function databasesWith(listed: readonly Module[], portRange = { from: 10_000, to: 10_007 }) {
  const report = { memoryTotalBytes: 1e9, memoryFreeBytes: 1e9, cores: 2 }
  const nodes = {
    isFree: async () => true,
    builds: async () => [{ ...build, path: '' }],
    describe: async () => report,
  } as unknown as Nodes
  const runExclusive = createMutex()
  const modules = { list: async () => listed }
  const askedPorts = { from: 11_000, to: 11_001 }
  return createDatabases({
    store,
    nodes,
    modules,
    portRange,
    askedPorts,
    reach: () => onlyLoopback,
    shardTls: true,
    runExclusive,
    nudge: () => undefined,
    now: () => 0,
  })
}

test('of several requests for one name at the same moment one is accepted, and the others are refused as if they came later', async () => {
  const databases = databasesWith([])
  const asked = [1, 2, 3].map(() => databases.create(request, by))
  const answers = await Promise.allSettled(asked)
  const codes = answers.map((each) => (each.status === 'fulfilled' ? 'created' : each.reason.code))
  expect(codes).toEqual(['created', 'name_already_exists', 'name_already_exists'])
  await expect(databases.create(request, by)).rejects.toMatchObject({ code: 'name_already_exists' })
  expect(await databases.list({ only: null })).toHaveLength(1)
})

test('a database without enough ports for its shards and endpoint is refused, and not created', async () => {
  const databases = databasesWith([])
  const large = { ...request, groups: 2, cluster: true, replicas: 1 }
  await expect(databases.create(large, by)).rejects.toMatchObject({
    code: 'insufficient_resources',
    message: expect.stringMatching(/9 port.*8 of 10000 to 10007/),
  })
  expect(await databases.list({ only: null })).toEqual([])
  await databases.create({ ...large, clientsKnowShards: true }, by)
})

test('a database is refused if the node has no room for it beside the reservations of others, or if its memory_size is too small for any engine', async () => {
  const databases = databasesWith([])
  const half = { ...request, memoryBytes: 400_000_000 }
  await databases.create(half, by)
  const second = databases.create({ ...half, name: 'second', replicas: 1 }, by)
  await expect(second).rejects.toMatchObject({ code: 'insufficient_resources' })
  const tiny = databases.create({ ...half, name: 'tiny', memoryBytes: 1_000 }, by)
  await expect(tiny).rejects.toMatchObject({ code: 'memory_size_too_small' })
  expect((await databases.list({ only: null })).length).toBe(1)
  await databases.create({ ...half, name: 'second' }, by)
})

test('a port outside of the permitted range is refused: it may belong to another service', async () => {
  const databases = databasesWith([])
  for (const endpointPort of [81, 9_999, 10_008, 10_999, 11_002, 25_999]) {
    await expect(databases.create({ ...request, endpointPort }, by)).rejects.toMatchObject({
      code: 'port_unavailable',
      message: expect.stringMatching(/may not be asked for; send one from 11000 to 11001/),
    })
  }
  await databases.create({ ...request, endpointPort: 11_001 }, by)
  await databases.create({ ...request, name: 'own', endpointPort: 10_001 }, by)
})

describe('a module that is deleted at the very moment', () => {
  const named = {
    place: 'module_list[0]',
    uid: gone.uid,
    name: undefined,
    semanticVersion: undefined,
    args: undefined,
  }

  test('a database is created with it is refused, and there is no database', async () => {
    const databases = databasesWith([gone])
    const created = databases.create({ ...request, modules: [named] }, by)
    await expect(created).rejects.toMatchObject({ code: 'module_not_exist' })
    expect(await databases.list({ only: null })).toEqual([])
  })

  test('an upgrade begins with it is refused, and none has begun', async () => {
    const databases = databasesWith([])
    const { database } = await databases.create(request, by)
    const { uid, name, semanticVersion, sha256 } = gone
    const goal = { ...steadyGoal(database), modules: [{ uid, name, semanticVersion, sha256, args: [] }] }
    await store.db.deleteFrom('actions').execute()
    await expect(databases.begin(1, { kind: 'upgrade', goal }, by)).rejects.toMatchObject({
      code: 'module_not_exist',
      message: expect.stringContaining('tally'),
    })
    expect((await databases.get(1)).action).toBeUndefined()
  })
})

test('a creation of more shards than its node connects within a minute has a warning', async () => {
  const databases = databasesWith([], { from: 10_000, to: 10_299 })
  const large = { ...request, groups: 64, cluster: true, replicas: 1 }
  const { action } = await databases.create(large, by)
  expect(action?.warnings).toEqual([expect.stringMatching(/^128 shards in one cluster on 2 processor/)])
  const small = await databases.create({ ...large, name: 'small', groups: 2 }, by)
  expect(small.action?.warnings).toEqual([])
})

test('an upgrade without a change is a completed action that blocks nothing and says why', async () => {
  const databases = databasesWith([])
  const { database } = await databases.create(request, by)
  const nothing = { goal: steadyGoal(database), reason: 'nothing was to be changed', request: null }
  await expect(databases.noteNothing(database.uid, nothing, by)).rejects.toMatchObject({ code: 'db_busy' })

  const creation = (await databases.get(database.uid)).action?.uid ?? ''
  await actionsStore(store.db).update(creation, { status: 'done' }, database.createdAt)
  const { action } = await databases.noteNothing(database.uid, nothing, by)
  expect(action).toMatchObject({ kind: 'upgrade', status: 'done', progress: 100 })
  expect(action?.warnings).toEqual([nothing.reason])
  expect((await databases.get(database.uid)).action).toBeUndefined()
})
