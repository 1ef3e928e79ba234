import { latencyBounds, type ShardStatistics, type StatisticsReport, type Traffic } from '@fairlead/api'
import { expect, test } from 'vitest'
import { AgentUnreachable } from '../../../../src/nodes/agent-link.ts'
import { createCollect, rememberPlaces } from '../../../../src/observe/statistics/collect.ts'
import { slotOf } from '../../../../src/observe/statistics/compose.ts'
import { createSeries } from '../../../../src/observe/statistics/series.ts'

const start = Date.UTC(2026, 10, 23, 12)
const still: Omit<ShardStatistics, 'id' | 'role'> = {
  connections: 4,
  blocked: 0,
  keys: 10,
  expires: 1,
  usedMemory: 1_000,
  residentMemory: 9_000,
  lagBytes: 0,
  commands: 0,
  bytesIn: 0,
  bytesOut: 0,
  hits: 0,
  misses: 0,
  expired: 0,
  evicted: 0,
  cpuUser: 0,
  cpuSystem: 0,
}

/** A server that looks every ten seconds at an agent and a proxy, which answer what the test says. */
function stage() {
  let now = start
  const asked: unknown[] = []
  const read: (readonly number[])[] = []
  const answers = {
    report: {
      boot: 'one',
      seq: 5,
      memoryTotalBytes: 9e9,
      memoryFreeBytes: 5e9,
      diskFreeBytes: 7e9,
      ticks: { user: 0, system: 0, idle: 0 },
      shards: [],
      gone: [],
    } as StatisticsReport | Error,
    endpoints: [] as readonly Traffic[] | Error,
  }
  const series = createSeries()
  const collect = createCollect({
    agent: {
      async reportStatistics(input) {
        asked.push(input.body)
        if (answers.report instanceof Error) throw answers.report
        return answers.report
      },
    },
    proxy: {
      async reportTraffic() {
        if (answers.endpoints instanceof Error) throw answers.endpoints
        return { endpoints: [...answers.endpoints] }
      },
    },
    places: rememberPlaces(async (ids) => {
      read.push(ids)
      return ids.map((shardId) => ({ shardId, databaseUid: 7, hasEndpoint: true }))
    }),
    promisedBytes: async () => 6e9,
    series,
    now: () => now,
    log: { warn: () => undefined },
  })
  return {
    answers,
    asked,
    read,
    series,
    async look(change: Partial<StatisticsReport>, endpoints: readonly Traffic[] = []) {
      if (!(answers.report instanceof Error))
        answers.report = { ...answers.report, shards: [], gone: [], ...change }
      answers.endpoints = endpoints
      await collect(AbortSignal.timeout(60_000))
      now += 10_000
    },
  }
}

function traffic(requests: number, change: Partial<Traffic> = {}): Traffic {
  const latencies = latencyBounds.map((_, n) => (n === 4 ? requests : 0))
  return {
    id: 'db7',
    since: 1,
    connections: 3,
    requests,
    bytesIn: requests * 10,
    bytesOut: requests * 20,
    latencyUs: requests * 50,
    latencies,
    ...change,
  }
}

test('the values of a database come from its primaries and its endpoint; a shard is looked up once', async () => {
  const { look, series, read, asked } = stage()
  const shards = [
    { id: 's1', role: 'primary' as const, ...still, cpuUser: 0.5, reads: 120, writes: 30 },
    { id: 's2', role: 'replica' as const, ...still, cpuUser: 0.25, reads: 9, writes: 30 },
  ]
  await look({ shards }, [traffic(1_000)])
  await look({ shards, ticks: { user: 10, system: 30, idle: 60 } }, [traffic(3_000)])
  expect(series.last('bdb', 7)?.values).toMatchObject({
    total_req: 200,
    read_req: 120,
    write_req: 30,
    conns: 3,
    ingress_bytes: 2_000,
    egress_bytes: 4_000,
    avg_latency: 50,
    no_of_keys: 10,
    used_memory: 1_000,
    shard_cpu_user: 0.75,
  })
  expect(series.last('shard', 2)?.values).toMatchObject({ no_of_keys: 10, connected_clients: 4 })
  expect(series.last('node', 1)?.values).toMatchObject({
    cpu_user: 0.1,
    cpu_system: 0.3,
    cpu_idle: 0.6,
    conns: 3,
    total_req: 200,
    free_memory: 5e9,
    provisional_memory: 3e9,
  })
  expect(read).toEqual([[1, 2]])
  expect(asked).toEqual([
    { boot: '', after: 0 },
    { boot: 'one', after: 5 },
  ])
})

test('a database without clients becomes idle, and the counters of a reopened endpoint start at 0', async () => {
  const { look, series } = stage()
  await look({ shards: [{ id: 's1', role: 'primary', ...still }] }, [traffic(1_000)])
  await look({}, [traffic(40, { since: 2, connections: 1 })])
  expect(series.last('bdb', 7)?.values).toMatchObject({ total_req: 4, conns: 1 })
  await look({}, [])
  expect(series.last('bdb', 7)?.values).toEqual(
    expect.not.objectContaining({ avg_latency: expect.anything() }),
  )
  expect(series.last('bdb', 7)?.values).toMatchObject({ total_req: 0, conns: 0 })
})

test('an agent that was away is asked for everything; without a proxy shards are still measured', async () => {
  const { look, answers, asked, series } = stage()
  const report = answers.report
  await look({})
  answers.report = new AgentUnreachable('it is away')
  await look({})
  answers.report = report
  await look({ shards: [{ id: 's1', role: 'primary', ...still }] })
  expect(asked.at(-1)).toMatchObject({ boot: '' })
  expect(series.uids('bdb')).toEqual([7])
  await look({ gone: ['s1'] })
  expect([series.uids('bdb'), series.uids('shard')]).toEqual([[], []])
})

test('what happened since the last look belongs to the interval that has ended with this one', async () => {
  const { look, series } = stage()
  await look({})
  await look({})
  // The second look was ten seconds after the start.
  expect(series.last('node', 1)?.slot).toBe(slotOf(start))
})
