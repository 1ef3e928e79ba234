import { describe, expect, test } from 'vitest'
import { groupOf, old, plenty, shardedOf, unlimited } from '../../../test/simulation/group.ts'
import type { Database } from '../state/database.ts'
import { isLive, type ObservedDatabase } from '../state/topology.ts'
import { resolveLimits } from './resolve-limits.ts'

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
  request: { readonly megabytes?: number; readonly policy?: string },
  change: Partial<Parameters<typeof resolveLimits>[1]> = {},
) {
  return resolveLimits(
    {
      memoryBytes: request.megabytes === undefined ? undefined : request.megabytes * MB,
      evictionPolicy: request.policy,
    },
    { database, action: undefined, seen: holding(50), catalogue: [], ...change },
  )
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
