import { describe, expect, test } from 'vitest'
import { groupOf, old, plenty, shardedOf, unlimited } from '../../../test/simulation/group.ts'
import type { Database } from '../state/database.ts'
import { isLive, type ObservedDatabase } from '../state/topology.ts'
import { type ChangeRequest, resolveChange } from './resolve-change.ts'

const MB = 1_000_000

const database: Database = {
  uid: 1,
  name: 'orders',
  status: 'active',
  obstacle: '',
  ...old,
  replicas: 1,
  memoryBytes: 100 * MB,
  evictionPolicy: 'noeviction',
  persistence: 'disabled',
  aofFsync: 'everysec',
  snapshots: [],
  adminPassword: '',
  userPassword: '',
  cluster: false,
  clientsKnowShards: false,
  shardTls: false,
  tls: false,
  endpointPort: null,
  former: [],
  defaultUser: true,
  rolesPermissions: [],
  users: [],
  createdAt: '',
  changedAt: '',
  groups: [{ number: 0, slots: { first: 0, last: 16_383 }, primaryShard: 1, history: null }],
}

/** Each of its shards holds this much. */
function holding(
  dataMb: number,
  { groups }: ObservedDatabase = { groups: [groupOf(1)] },
  node = plenty,
): ObservedDatabase {
  return {
    groups: groups.map((group) => ({
      ...group,
      node,
      shards: group.shards.map((shard) =>
        isLive(shard) ? { ...shard, engine: { ...shard.engine, memory: unlimited(dataMb * MB) } } : shard,
      ),
    })),
  }
}

function ask(
  request: ChangeRequest & { readonly megabytes?: number; readonly policy?: string },
  change: Partial<Parameters<typeof resolveChange>[1]> = {},
) {
  const { megabytes, policy, ...others } = request
  const memoryBytes = megabytes === undefined ? undefined : megabytes * MB
  const free = { lackOfPorts: undefined, takenPlace: undefined, now: 0 }
  const subject = { database, action: undefined, seen: holding(50), catalogue: [], ...free }
  const resolved = resolveChange(
    { memoryBytes, evictionPolicy: policy, ...others },
    { ...subject, ...change },
  )
  if ('refused' in resolved) return resolved
  return { ...resolved.database, change: resolved.changed.length > 0, goal: resolved.goal }
}

const upgrade = { uid: 'a', kind: 'upgrade' } as const

describe('other limits', () => {
  test('are those of the request, and unchanged where the request has none', () => {
    expect(ask({})).toMatchObject({ memoryBytes: 100 * MB, evictionPolicy: 'noeviction', change: false })
    expect(ask({ megabytes: 200 })).toMatchObject({
      memoryBytes: 200 * MB,
      evictionPolicy: 'noeviction',
      change: true,
    })
    expect(ask({ policy: 'allkeys-lru' })).toMatchObject({
      memoryBytes: 100 * MB,
      evictionPolicy: 'allkeys-lru',
    })
    expect(ask({ megabytes: 0 })).toMatchObject({ memoryBytes: 0, change: true })
  })

  test('are not below the size of the data, unless any key may be evicted', () => {
    expect(ask({ megabytes: 50 })).toMatchObject({ memoryBytes: 50 * MB })
    const refused = {
      refused: 'memory_size_too_small',
      message: expect.stringMatching(/uses 50 MB.*send 50000000/),
    }
    expect(ask({ megabytes: 49 })).toMatchObject(refused)
    expect(ask({ megabytes: 49, policy: 'volatile-lru' })).toMatchObject(refused)
    expect(ask({ megabytes: 49, policy: 'allkeys-lfu' })).toMatchObject({ memoryBytes: 49 * MB })
    expect(ask({ megabytes: 49 }, { database: { ...database, memoryBytes: 0 } })).toMatchObject(refused)
  })

  test('leave room for the engines, whatever may be evicted: 100 is 100 bytes', () => {
    const tiny = { refused: 'memory_size_too_small', message: expect.stringContaining('send 1000000 bytes') }
    for (const policy of ['allkeys-lru', 'allkeys-random'])
      expect(ask({ megabytes: 0.0001, policy })).toMatchObject(tiny)
    expect(ask({ megabytes: 1, policy: 'allkeys-lru' })).toMatchObject({ memoryBytes: MB })
  })

  test('are judged by the fullest group', () => {
    const groups = Array.from({ length: 3 }, (_, number) => ({
      ...groupOf(0),
      number,
      primaryShard: 1,
      slots: { first: 0, last: 1 },
    }))
    const sharded = { ...database, groups, memoryBytes: 300 * MB }
    const seen = holding(50, shardedOf(3, 1))
    expect(ask({ megabytes: 150 }, { database: sharded, seen })).toMatchObject({ memoryBytes: 150 * MB })
    expect(ask({ megabytes: 149 }, { database: sharded, seen })).toMatchObject({
      refused: 'memory_size_too_small',
      message: expect.stringContaining('send 150000000 or more'),
    })
  })

  test('are not lowered while the size of the database is not known', () => {
    const silent = {
      groups: [{ ...groupOf(1), shards: groupOf(1).shards.map((shard) => ({ ...shard, engine: null })) }],
    }
    expect(ask({ megabytes: 99 }, { seen: silent })).toMatchObject({ refused: 'unavailable' })
    expect(ask({ megabytes: 101 }, { seen: silent })).toMatchObject({ change: true })
  })

  test('need room on the node for the additional memory, in each shard', () => {
    const seen = holding(50, undefined, { memoryFreeBytes: 100 * MB, diskFreeBytes: 1e12 })
    expect(ask({ megabytes: 150 }, { seen })).toMatchObject({ change: true })
    expect(ask({ megabytes: 151 }, { seen })).toMatchObject({
      refused: 'insufficient_resources',
      message: expect.stringMatching(/2 shard\(s\) would need 102 MB more, and the node has 100 MB free/),
    })
  })

  test('are refused while another change runs, except for more memory during an upgrade', () => {
    expect(ask({ megabytes: 200 }, { action: upgrade })).toMatchObject({ change: true })
    for (const asked of [
      { megabytes: 90 },
      { policy: 'allkeys-lru' },
      { megabytes: 200, policy: 'allkeys-lru' },
    ])
      expect(ask(asked, { action: upgrade })).toMatchObject({
        refused: 'db_busy',
        message: expect.stringContaining('memory_size can be raised'),
      })
    expect(ask({ megabytes: 200 }, { action: { uid: 'a', kind: 'delete' } })).toMatchObject({
      refused: 'db_busy',
    })
    expect(ask({}, { action: upgrade })).toMatchObject({ change: false })
  })

  test('are refused only with the other change while one runs', () => {
    const asked = ask({ megabytes: 10 }, { action: upgrade })
    expect(asked).toMatchObject({ refused: 'db_busy', message: expect.stringMatching(/, and nothing else$/) })
    const silent = {
      groups: [{ ...groupOf(1), shards: groupOf(1).shards.map((shard) => ({ ...shard, engine: null })) }],
    }
    expect(ask({ megabytes: 10 }, { action: upgrade, seen: silent })).toEqual(asked)
  })
})

describe('another way to save data, or another number of replicas', () => {
  const from = { replicas: 1, persistence: 'disabled', memoryBytes: 100 * MB, aofFsync: 'everysec' }

  test('needs an action, whose undo restores what was before', () => {
    expect(ask({ replicas: 0 })).toMatchObject({
      replicas: 0,
      goal: { replicas: 0, change: { from, to: { replicas: 0 } }, undo: false },
    })
    expect(ask({ persistence: 'aof' })).toMatchObject({
      persistence: 'aof',
      goal: { persistence: 'aof', change: { from } },
    })
    expect(ask({ replicas: 1, persistence: 'disabled' })).toMatchObject({ change: false, goal: null })
  })

  test('is undone together with the settings that were asked for with it', () => {
    const asked = { persistence: 'aof', aofFsync: 'always', megabytes: 200 } as const
    expect(ask(asked)).toMatchObject({ goal: { change: { from, to: { memoryBytes: 200 * MB } } } })
  })

  test('needs room on the disk for its files, since an engine without it ends with what is in memory', () => {
    const room = (diskMb: number) =>
      holding(50, undefined, { memoryFreeBytes: 1e12, diskFreeBytes: diskMb * MB })
    const refused = {
      refused: 'insufficient_resources',
      message: expect.stringMatching(/^data_persistence: /),
    }
    for (const persistence of ['aof', 'snapshot'] as const) {
      expect(ask({ persistence }, { seen: room(90) })).toMatchObject(refused)
      expect(ask({ persistence }, { seen: room(100_000) })).toMatchObject({ persistence })
    }
    const saved = { ...database, persistence: 'aof' } as const
    expect(ask({ persistence: 'disabled' }, { database: saved, seen: room(1) })).toMatchObject({
      change: true,
    })
  })

  test('needs none where only the rules of the present way change', () => {
    const snapshots = [{ secs: 60, writes: 1 }]
    const saved = { ...database, persistence: 'snapshot', snapshots: [{ secs: 3_600, writes: 1 }] } as const
    expect(ask({ aofFsync: 'always' })).toMatchObject({ aofFsync: 'always', change: true, goal: null })
    expect(ask({ snapshots }, { database: saved })).toMatchObject({ snapshots, change: true, goal: null })
    expect(ask({ snapshots: [{ ...saved.snapshots[0] }] }, { database: saved })).toMatchObject({
      change: false,
    })
  })

  test('has a rule for snapshots, also if none is asked for', () => {
    expect(ask({ persistence: 'snapshot' })).toMatchObject({ snapshots: [{ secs: 3_600, writes: 1 }] })
  })

  test('needs room on the node for each new replica, and ports', () => {
    const alone = { ...database, replicas: 0 }
    const room = (freeMb: number) =>
      holding(50, { groups: [groupOf(0)] }, { memoryFreeBytes: freeMb * MB, diskFreeBytes: 1e12 })
    expect(ask({ replicas: 1 }, { database: alone, seen: room(100) })).toMatchObject({ replicas: 1 })
    const refused = { refused: 'insufficient_resources', message: expect.stringMatching(/^replication: /) }
    expect(ask({ replicas: 1 }, { database: alone, seen: room(99) })).toMatchObject(refused)
    const noPorts = { database: alone, seen: room(100), lackOfPorts: '2 port(s) are needed' }
    expect(ask({ replicas: 1 }, noPorts)).toMatchObject(refused)
    expect(ask({ aofFsync: 'always' }, noPorts)).toMatchObject({ change: true })
  })

  test('is refused while another change runs', () => {
    for (const asked of [{ replicas: 0 }, { persistence: 'aof' }, { aofFsync: 'always' }] as const)
      expect(ask(asked, { action: upgrade })).toMatchObject({ refused: 'db_busy' })
    expect(ask({ megabytes: 200 }, { action: { uid: 'a', kind: 'change' } })).toMatchObject({
      refused: 'db_busy',
    })
  })
})

describe('another way to reach the database', () => {
  const served = { ...database, clientsKnowShards: false, endpointPort: 12_000 }
  const access = { endpointPort: 12_001, tls: true, name: 'bills' }

  test('is in force at once, and the former one is valid for a day', () => {
    const until = new Date(86_400_000).toISOString()
    expect(ask(access, { database: served })).toMatchObject({
      ...access,
      goal: null,
      former: [
        { kind: 'place', port: 12_000, tls: false, until },
        { kind: 'name', name: served.name, until },
      ],
    })
  })

  test('is refused where a name or port is taken, and where clients know the shards', () => {
    const takenPlace = { refused: 'port_unavailable', field: 'port', message: 'taken' } as const
    expect(ask(access, { database: served, takenPlace })).toMatchObject({ refused: 'port_unavailable' })
    expect(ask({ tls: true }, { database: { ...served, clientsKnowShards: true } })).toMatchObject({
      refused: 'field_not_available',
      message: expect.stringContaining('tls_mode: clients of orders connect to its shards'),
    })
  })

  test('is refused while very many former ones are valid, and possible when they have ended', () => {
    const until = new Date(1_000).toISOString()
    const former = Array.from({ length: 16 }, (_, n) => ({ kind: 'name', name: `n${n}`, until }) as const)
    const many = { database: { ...served, former } }
    expect(ask({ userPassword: 'another-one' }, many)).toMatchObject({
      refused: 'db_busy',
      message: expect.stringContaining('"former_valid_seconds": 0'),
    })
    expect(ask({ userPassword: 'another-one', formerSeconds: 0 }, many)).toMatchObject({ change: true })
    expect(ask({ formerSeconds: 0 }, many)).toMatchObject({ former: [] })
    expect(ask({ userPassword: 'another-one' }, { ...many, now: 1_000 })).toMatchObject({ change: true })
  })

  test('is ended during an upgrade, too, but not replaced', () => {
    const former = [{ kind: 'name', name: 'bills', until: new Date(1_000).toISOString() }] as const
    const during = { database: { ...served, former }, action: upgrade }
    expect(ask({ formerSeconds: 0 }, during)).toMatchObject({ former: [], change: true })
    expect(ask({ name: 'other' }, during)).toMatchObject({ refused: 'db_busy' })
  })
})
