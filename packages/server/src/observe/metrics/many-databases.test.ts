import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { latencyBounds, type ShardStatistics, type Traffic } from '@fairlead/api'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { databaseOf, shardOf } from '../../../test/records.ts'
import { databasesStore } from '../../fleet/stores/databases-store.ts'
import { shardsStore } from '../../fleet/stores/shards-store.ts'
import { openStore, type Store } from '../../store/open-store.ts'
import { createCounters } from './counters.ts'
import { createMetrics } from './metrics-service.ts'
import { watchProcess } from './watch-process.ts'

const at = '2026-11-25T12:00:00.000Z'
let home: string
let store: Store
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'fairlead-metrics-'))
  store = await openStore(join(home, 'store.db'))
})
afterEach(async () => {
  await store[Symbol.asyncDispose]()
  rmSync(home, { recursive: true })
})

/** Creates `count` busy databases of two shards. */
async function fill(count: number) {
  const shards = new Map<number, ShardStatistics>()
  const traffic = new Map<string, Traffic>()
  await store.transaction(async (db) => {
    for (let n = 1; n <= count; n += 1) {
      const database = databaseOf({ name: `db-${n}`, memoryBytes: 1e6, endpointPort: 10_000 + 3 * n })
      const { uid } = await databasesStore(db).insert({ ...database, groups: 1 })
      for (const role of ['primary', 'replica'] as const) {
        const port = 10_000 + 3 * n + (role === 'primary' ? 1 : 2)
        const { id } = await shardsStore(db).insert(shardOf(0, { databaseUid: uid, port }), at)
        if (role === 'primary') await databasesStore(db).setPrimary(uid, 0, id)
        shards.set(id, { ...busy, id: `s${id}`, role })
      }
      traffic.set(`db${uid}`, { ...asked, id: `db${uid}` })
    }
  })
  return { shards, traffic }
}

const busy: Omit<ShardStatistics, 'id' | 'role'> = {
  connections: 4,
  blocked: 0,
  keys: 10,
  expires: 1,
  usedMemory: 1_000,
  residentMemory: 9_000,
  lagBytes: 7,
  commands: 12.5,
  bytesIn: 1,
  bytesOut: 1,
  hits: 1,
  misses: 1,
  expired: 0,
  evicted: 0,
  cpuUser: 0.25,
  cpuSystem: 0.5,
}
const asked = {
  since: 1,
  connections: 3,
  requests: 41,
  bytesIn: 100,
  bytesOut: 200,
  latencyUs: 5_000,
  latencies: latencyBounds.map(() => 1),
}

function metricsOf({ shards, traffic }: Awaited<ReturnType<typeof fill>>, mostDatabases = 1_000) {
  const watch = watchProcess()
  const measured = {
    agentIsUp: true,
    proxyIsUp: true,
    atMs: 1,
    node: null,
    shards,
    traffic,
    down: new Set<number>(),
  }
  const load = () => ({ running: 0, waiting: {} })
  const statistics = { measured }
  const own = createMetrics({
    store,
    counters: createCounters(),
    statistics,
    process: watch,
    load,
    mostDatabases,
    now: Date.now,
    version: '0.1.0',
  })
  return { own, measured, [Symbol.dispose]: () => watch[Symbol.dispose]() }
}

// invariant: A scrape of metrics makes no other request wait, however many databases there are.
test('while the text of 300 databases is made, other work has its turn at least once for every 500 lines and 250 rows', async () => {
  using metrics = metricsOf(await fill(300))
  let turns = 0
  const tick = () => {
    turns += 1
    immediate = setImmediate(tick)
  }
  let immediate = setImmediate(tick)
  const text = await metrics.own()
  clearImmediate(immediate)
  const lines = text.split('\n').length
  expect(lines).toBeGreaterThan(13_000)
  expect(turns).toBeGreaterThanOrEqual(Math.floor(lines / 520) + 2)
})

test('requests at the same time get one text, which is made once', async () => {
  using metrics = metricsOf(await fill(3))
  const [one, other] = [metrics.own(), metrics.own()]
  expect(one).toBe(other)
  await one
  expect(metrics.own()).not.toBe(one)
  await metrics.own()
})

test('databases beyond the bound have no series, and are counted', async () => {
  using metrics = metricsOf(await fill(12), 10)
  const text = await metrics.own()
  expect(text).toContain('\nfairlead_metrics_databases_left_out 2\n')
  const named = new Set([...text.matchAll(/database="(\d+)"/g)].map(([, uid]) => Number(uid)))
  expect([...named].toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
})

test('a shard that does not answer is down, and what is known of it stays', async () => {
  using metrics = metricsOf(await fill(1))
  metrics.measured.down.add(1)
  const text = await metrics.own()
  expect(text).toContain('\nfairlead_shard_up{database="1",shard="1"} 0\n')
  expect(text).toContain('\nfairlead_shard_up{database="1",shard="2"} 1\n')
  expect(text).toContain('\nfairlead_shard_is_primary{database="1",shard="1"} 1\n')
  expect(text).toContain('\nfairlead_shard_memory_used_bytes{database="1",shard="1"} 1000\n')
})

test('every request that was timed is within a bound of its endpoint’s histogram, and all of them are counted', async () => {
  using metrics = metricsOf(await fill(1))
  const buckets = [
    ...(await metrics.own()).matchAll(
      /^fairlead_endpoint_request_duration_seconds_bucket\{database="1",le="(\S+)"\} (\d+)$/gm,
    ),
  ]
  expect(buckets.map(([, bound, count]) => [bound, Number(count)])).toEqual([
    ...[
      ['0.000128', 7],
      ['0.000256', 9],
      ['0.000512', 11],
      ['0.001024', 13],
      ['0.002048', 15],
      ['0.004096', 17],
    ],
    ...[
      ['0.008192', 19],
      ['0.016384', 21],
      ['0.032768', 23],
      ['0.065536', 25],
      ['0.131072', 27],
      ['0.262144', 29],
    ],
    ...[
      ['0.524288', 31],
      ['1.048576', 33],
      ['2.097152', 35],
      ['4.194304', 37],
      ['+Inf', 41],
    ],
  ])
})

test('while the store is away, what it said last is told, and that it is away', async () => {
  using metrics = metricsOf(await fill(2))
  expect(await metrics.own()).toContain('\nfairlead_store_up 1\n')
  await store[Symbol.asyncDispose]()
  const text = await metrics.own()
  expect(text).toContain('\nfairlead_store_up 0\n')
  expect(text).toContain('fairlead_database_info{database="2",name="db-2"')
  store = await openStore(join(home, 'store.db'))
})
