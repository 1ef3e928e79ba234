import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { steadyGoal } from '../../../../../src/core/state/database.ts'
import { onlyLoopback } from '../../../../../src/core/state/endpoint-reach.ts'
import { createDatabaseChanges } from '../../../../../src/fleet/databases/change-service.ts'
import { createDatabases } from '../../../../../src/fleet/databases/databases-service.ts'
import { databasesStore } from '../../../../../src/fleet/stores/databases-store.ts'
import { auditStore } from '../../../../../src/identity/stores/audit-store.ts'
import { AgentUnreachable } from '../../../../../src/nodes/agent-link.ts'
import type { Nodes } from '../../../../../src/nodes/nodes-service.ts'
import type { Store } from '../../../../../src/store/open-store.ts'
import { openTestStore } from '../../../../open-test-store.ts'
import { groupOf } from '../../../../simulation/group.ts'

const by = { uid: 1, name: 'admin', address: null }
const more = { memoryBytes: 2_000_000, evictionPolicy: undefined }

let folder: string
let store: Store
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-changes-'))
  store = await openTestStore(join(folder, 'store.db'))
})
afterEach(async () => {
  await store[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** A database with 1 MB for its clients, on which nothing runs. `look`: what happens while it is observed. */
async function databaseWith(look: () => Promise<unknown> = async () => undefined) {
  const nudged: number[] = []
  const databases = createDatabases({
    store,
    now: () => 0,
    nudge: () => undefined,
    portRange: { from: 10_000, to: 10_009 },
    askedPorts: { from: 10_000, to: 10_009 },
    reach: () => onlyLoopback,
    shardTls: true,
    nodes: {
      builds: async () => [{ flavour: 'valkey', version: '8.1.1', path: '' }],
      describe: async () => ({ memoryTotalBytes: 1e9, memoryFreeBytes: 1e9 }),
      isFree: async () => true,
    } as unknown as Nodes,
    modules: { list: async () => [] },
    runExclusive: (place) => place(),
  })
  const { database } = await databases.create(
    {
      name: 'orders',
      memoryBytes: 1_000_000,
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
    },
    by,
  )
  await store.db.deleteFrom('actions').execute()
  const changes = createDatabaseChanges({
    judge: { judgeBindings: async () => undefined },
    store,
    databases,
    modules: { list: async () => [] },
    now: () => 0,
    look: async () => {
      await look()
      return { groups: [groupOf(0)] }
    },
    nudge: (uid) => void nudged.push(uid),
    time: { elapsed: () => 0, pause: async () => undefined },
  })
  return { databases, database, changes, nudged }
}

test('other limits are on record together with the user that asked for them, and the reconciler is woken', async () => {
  const { changes, nudged } = await databaseWith()
  const view = await changes.change(1, { ...more, evictionPolicy: 'allkeys-lru' }, by, {})
  expect(view.database).toMatchObject({ memoryBytes: 2_000_000, evictionPolicy: 'allkeys-lru' })
  expect(nudged).toEqual([1])
  const [record] = await auditStore(store.db).list({ order: 'desc', limit: 1, offset: 0 })
  expect(record).toMatchObject({
    type: 'bdb_updated',
    by: { name: 'admin' },
    databaseUid: 1,
    details: {
      memory_size: 2_000_000,
      memory_size_before: 1_000_000,
      eviction_policy: 'allkeys-lru',
      eviction_policy_before: 'noeviction',
    },
  })
})

test('a former port is taken until it is forgotten, and the audit has no more of it than port and time', async () => {
  const { databases, changes } = await databaseWith()
  await databasesStore(store.db).setEndpointPort(1, 10_003)
  const { database } = await changes.change(1, { endpointPort: 10_004, formerSeconds: 60 }, by, {})
  const until = '1970-01-01T00:01:00.000Z'
  expect(database).toMatchObject({
    endpointPort: 10_004,
    former: [{ kind: 'place', port: 10_003, tls: false, until }],
  })
  const [record] = await auditStore(store.db).list({ order: 'desc', limit: 1, offset: 0 })
  expect(record?.details).toEqual({
    port: 10_004,
    port_before: 10_003,
    former_access: `port 10003 until ${until}`,
    former_access_before: '',
  })
  const range = { from: 10_003, to: 10_004 }
  expect((await databasesStore(store.db).portsWithin(range)).toSorted()).toEqual([10_003, 10_004])
  expect(await databasesStore(store.db).countPortsWithin(range)).toBe(2)
  expect(await databases.takenPlace({ endpointPort: 10_003 })).toMatchObject({ refused: 'port_unavailable' })
  const [ended] = database.former
  await changes.change(1, { endpointPort: 10_005 }, by, {})
  await databasesStore(store.db).forgetFormer(1, ended ? [ended] : [])
  expect((await databases.get(1)).database.former).toMatchObject([{ port: 10_004 }])
  expect(await databases.takenPlace({ endpointPort: 10_003 })).toBeUndefined()
})

test('unchanged values, and a dry run, write nothing', async () => {
  const { changes, nudged } = await databaseWith()
  const before = await auditStore(store.db).lastNumber()
  await changes.change(1, { memoryBytes: 1_000_000, evictionPolicy: 'noeviction' }, by, {})
  expect((await changes.foresee(1, more)).database.memoryBytes).toBe(2_000_000)
  expect(await auditStore(store.db).lastNumber()).toBe(before)
  expect(nudged).toEqual([])
})

test('a change that was checked before another one began is not written', async () => {
  const { databases, database, changes } = await databaseWith(async () => {
    const goal = { ...steadyGoal(database), kind: 'remove' } as const
    await databases.begin(1, { kind: 'delete', goal }, by)
  })
  await expect(changes.change(1, more, by, {})).rejects.toMatchObject({ code: 'db_busy' })
  expect((await databases.get(1)).database.memoryBytes).toBe(1_000_000)
})

test('while the agent is away it is not known whether there is room', async () => {
  const { changes } = await databaseWith(() => Promise.reject(new AgentUnreachable('away')))
  await expect(changes.change(1, more, by, {})).rejects.toBeInstanceOf(AgentUnreachable)
  await expect(changes.change(2, more, by, {})).rejects.toMatchObject({ code: 'db_not_exist' })
})
