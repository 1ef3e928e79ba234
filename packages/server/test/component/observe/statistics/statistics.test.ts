import { expect, test } from 'vitest'
import { slotOf } from '../../../../src/observe/statistics/resolutions.ts'
import {
  createStatistics,
  type IntervalsAsked,
} from '../../../../src/observe/statistics/statistics-service.ts'
import { statisticsStore } from '../../../../src/observe/stores/statistics-store.ts'
import { adminPassword, startControlPlane } from '../../../control-plane.ts'
import { openTestStore } from '../../../open-test-store.ts'

const at = Date.UTC(2026, 10, 23, 12)

test('an interval or a metric that is not kept is refused by its name', async () => {
  await using server = await startControlPlane()
  const auth = await server.signIn(server.config.adminUsername, adminPassword)
  const ask = (path: string) => server.send('GET', path, { auth })
  for (const path of ['/v1/bdbs/stats', '/v1/shards/stats', '/v1/nodes/stats'])
    expect(await ask(`${path}?interval=5min`)).toMatchObject({ status: 200, body: [] })
  for (const path of ['/v1/bdbs/stats/last', '/v1/shards/stats/last', '/v1/cluster/stats/last'])
    for (const query of ['', '?interval=15min&stime=2026-11-21T12:00:00&etime=2026-11-21T13:00:00Z'])
      expect(await ask(path + query)).toMatchObject({ status: 200, body: {} })
  expect(await ask('/v1/cluster/stats')).toMatchObject({ status: 200, body: { intervals: [] } })
  expect(await ask('/v1/bdbs/stats/7')).toMatchObject({ status: 404, body: { error_code: 'db_not_exist' } })
  expect(await ask('/v1/shards/stats/7')).toMatchObject({ body: { error_code: 'shard_not_exist' } })
  expect(await ask('/v1/nodes/stats/2')).toMatchObject({ body: { error_code: 'node_not_exist' } })
  const refused = await ask('/v1/bdbs/stats?interval=1sec')
  expect(refused.status).toBe(400)
  expect(refused.body['message']).toBe(
    'interval: 1sec is not kept; ask for 10sec, 5min, 15min, 1hour, 12hour',
  )
  expect((await ask('/v1/cluster/stats?stime=2026-99-99T00:00:00Z')).body['message']).toContain('stime')
})

test('intervals of an earlier server are read at the start; a damaged row costs itself, an old one goes', async () => {
  await using store = await openTestStore(':memory:')
  const stored = statisticsStore(store.db)
  const slot = slotOf('5min', at)
  const points = [{ kind: 'node' as const, uid: 1, values: { cpu_user: 0.25 } }]
  for (const one of [slot - 400, slot - 2, slot - 1])
    await stored.add({ interval: '5min', slot: one, points }, 0)
  await stored.add({ interval: '5min', slot, points }, slot - 288)
  await stored.add({ interval: '5min', slot, points: [] }, slot - 288)
  await store.db
    .updateTable('statistics')
    .set({ points: 'x' })
    .where('slot', '=', slot - 1)
    .execute()
  const none = () => Promise.reject(new Error('nothing is asked here'))
  await using statistics = await createStatistics({
    ...{ store, now: () => at + 1_000, placesOf: async () => [], log: { warn: () => undefined } },
    ...{ agent: { reportStatistics: none }, proxy: { reportTraffic: none } },
  })
  const asked = { interval: '5min' as const, fromMs: undefined, toMs: undefined }
  expect(
    statistics.intervals('node', 1, asked).map(({ fromMs, values }) => [fromMs, values['cpu_user']]),
  ).toEqual([
    [at - 600_000, 0.25],
    [at, 0.25],
  ])
})

test('15min is made of what was measured in 5min, when it has ended; the last of any interval can be asked for', async () => {
  await using store = await openTestStore(':memory:')
  const stored = statisticsStore(store.db)
  const slot = slotOf('5min', at)
  const ofPart: Record<number, Record<string, number>> = {
    [-6]: { total_req: 10, avg_latency: 100, latency_p99: 500, used_memory: 3_000 },
    [-5]: { total_req: 30, avg_latency: 200, latency_p99: 900, used_memory: 6_000 },
    // Of the third part nothing is known, and of this one no latency.
    [-3]: { total_req: 0, used_memory: 6_000 },
    [-2]: { total_req: 6, avg_latency: 50, latency_p99: 70, used_memory: 6_000 },
    [-1]: { total_req: 0, used_memory: 6_000 },
    [0]: { total_req: 99, used_memory: 6_000 },
  }
  for (const [n, values] of Object.entries(ofPart))
    await stored.add(
      { interval: '5min', slot: slot + Number(n), points: [{ kind: 'bdb', uid: 7, values }] },
      0,
    )
  const none = () => Promise.reject(new Error('nothing is asked here'))
  await using statistics = await createStatistics({
    ...{ store, now: () => at + 600_000, placesOf: async () => [], log: { warn: () => undefined } },
    ...{ agent: { reportStatistics: none }, proxy: { reportTraffic: none } },
  })
  const asked = { interval: '15min' as const, fromMs: undefined, toMs: undefined }
  const quarter = 900_000
  expect(statistics.intervals('bdb', 7, asked)).toMatchObject([
    {
      ...{ interval: '15min', fromMs: at - 2 * quarter, toMs: at - quarter },
      values: { total_req: 20, avg_latency: 175, latency_p99: 900, used_memory: 4_500 },
    },
    {
      ...{ interval: '15min', fromMs: at - quarter, toMs: at },
      values: { total_req: 2, avg_latency: 50, latency_p99: 70, used_memory: 6_000 },
    },
  ])
  const last = (more: Partial<IntervalsAsked>) => statistics.last('bdb', 7, { ...asked, ...more })
  expect(last({})).toMatchObject({ fromMs: at - quarter })
  expect(last({ toMs: at - quarter - 1 })).toMatchObject({ fromMs: at - 2 * quarter })
  expect(last({ interval: '5min' })).toMatchObject({ fromMs: at, values: { total_req: 99 } })
  // The window of a monitor that asks each quarter of an hour.
  expect(last({ fromMs: at + 1 - quarter, toMs: at + 1 })).toMatchObject({ fromMs: at - quarter })
  expect(last({ fromMs: at })).toBeNull()
})
