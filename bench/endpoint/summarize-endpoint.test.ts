import { expect, test } from 'vitest'
import { readLoad } from './run-load.ts'
import {
  compareTls,
  compareTraced,
  judgeIdle,
  judgeRuns,
  type Run,
  summarizeRuns,
  type Way,
} from './summarize-endpoint.ts'

const run = (way: Way, pipeline: number, perSecond: number, cpu = 0.5): Run => ({
  way,
  pipeline,
  requests: 100_000,
  perSecond,
  p50Ms: perSecond / 1e5,
  p99Ms: perSecond / 1e4,
  cpu: { between: cpu, engine: 1, clients: 2 },
})

test('each way has the medians of its rounds, and the cost of a request for each process', () => {
  const runs = [run('direct', 1, 3), run('endpoint', 1, 10, 0.1), run('endpoint', 16, 50)]
  const rows = summarizeRuns([...runs, run('endpoint', 1, 30, 0.3), run('endpoint', 1, 20, 0.2)])
  expect(rows.map(({ way, pipeline, perSecond }) => [way, pipeline, perSecond])).toEqual([
    ['direct', 1, 3],
    ['endpoint', 1, 20],
    ['endpoint', 16, 50],
  ])
  expect(rows[1]?.cpuMicros).toEqual({ between: 2, engine: 10, clients: 20 })
})

test('rounds are compared with HAProxy of the same round, with one thread', () => {
  const slow = [run('haproxy', 1, 50), run('haproxy-default', 1, 500), run('endpoint', 1, 45)]
  const fast = [run('haproxy', 1, 100), run('endpoint', 1, 80)]
  const fastest = [run('haproxy', 1, 200), run('endpoint', 1, 120)]
  const deep = [run('haproxy', 16, 1_000), run('endpoint', 16, 640)]
  expect(judgeRuns([...slow, ...fast, ...fastest, ...deep])).toMatchObject([
    { value: 0.8, met: true },
    { value: 0.64, met: false },
  ])
  expect(judgeRuns([run('endpoint', 1, 45), run('direct', 1, 50)])).toEqual([])
})

test('memory is extrapolated to 10,000 connections', () => {
  const less = { connections: 5_000, rssBytesBefore: 100_000_000, rssBytes: 140_000_000 }
  expect(judgeIdle(less)).toMatchObject({ value: 180, met: true })
  expect(judgeIdle(less).what).toContain('reckoned from 5000')
  expect(judgeIdle({ ...less, rssBytes: 160_000_000 })).toMatchObject({ value: 220, met: false })
  expect(judgeIdle({ ...less, connections: 10_000 })).toMatchObject({ value: 140, met: true })
})

test('the benchmark is read by the names of its columns', () => {
  const head =
    '"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms"'
  expect(readLoad(`${head}\n"SET","52700.50","0.9","0.1","0.74","1.5","2.34"\n`)).toEqual({
    perSecond: 52_700.5,
    p50Ms: 0.74,
    p99Ms: 2.34,
  })
  expect(() => readLoad('Could not connect')).toThrow('printed no rps')
})

test('over TLS the endpoint is compared with the engine over TLS, and with itself without, of the same round', () => {
  const one = [run('direct-tls', 1, 100), run('endpoint', 1, 80), run('endpoint-tls', 1, 40)]
  const two = [run('direct-tls', 1, 50), run('endpoint', 1, 30), run('endpoint-tls', 1, 30)]
  expect(compareTls([...one, ...two])).toEqual([
    { what: 'endpoint / direct, both over TLS, P=1', value: 0.5 },
    { what: 'endpoint, over TLS / without, P=1', value: 0.75 },
  ])
})

test('what the ring for traces costs is the endpoint beside one without, of the same round', () => {
  const one = [run('endpoint', 16, 90, 0.6), run('endpoint-untraced', 16, 100, 0.5)]
  const two = [run('endpoint-untraced', 16, 50, 1), run('endpoint', 16, 50, 1)]
  const three = [run('endpoint', 16, 40, 2), run('endpoint-untraced', 16, 20, 4)]
  expect(compareTraced([...one, ...two, ...three]).map(({ value }) => value)).toEqual([1, 1])
})
