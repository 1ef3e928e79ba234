import { expect } from 'vitest'
import type { Json, Replay } from './replay.ts'

const isActive = ({ status }: Json) => status === 'active'
/** Whether a complete interval of 10 seconds has the load that was sent before. */
const hasLoad = ({ intervals }: Json) =>
  intervals?.some(({ total_req, latency_p99 }: Json) => total_req > 0 && latency_p99 > 0) === true &&
  intervals.some(({ write_req }: Json) => write_req > 0)
const positive = expect.toSatisfy((value: unknown) => typeof value === 'number' && value > 0)
const number = expect.any(Number)

/**
 * A monitor: statistics of a real engine behind a real proxy, after a small load, with what a dashboard
 * reads.
 */
export const monitors: readonly Replay[] = [
  { sends: ['GET', '/v1/bdbs/stats/last'], reads: {} },
  { sends: ['GET', '/v1/bdbs/stats/99'], status: 404, reads: { error_code: 'db_not_exist' } },
  {
    sends: ['POST', '/v1/bdbs', { name: 'monitored', memory_size: 104_857_600, replication: true }],
    reads: { uid: number },
    keeps: { db: ({ uid }) => uid },
  },
  { sends: ['GET', '/v1/bdbs/{db}'], until: isActive, reads: { status: 'active' } },
  ...Array.from(
    { length: 40 },
    (_, n): Replay => ({
      sends: ['POST', '/v1/bdbs/{db}/command', { command: ['SET', `key:${n}`, 'x'.repeat(1_000)] }],
      reads: { response: 'OK' },
    }),
  ),
  {
    sends: ['GET', '/v1/bdbs/stats/{db}?interval=10sec'],
    until: hasLoad,
    reads: {
      uid: expect.anything(),
      intervals: expect.arrayContaining([
        expect.objectContaining({
          stime: expect.any(String),
          etime: expect.any(String),
          interval: '10sec',
          total_req: positive,
          instantaneous_ops_per_sec: positive,
          ingress_bytes: positive,
          egress_bytes: positive,
          latency_p50: positive,
          latency_p99: positive,
          avg_latency: positive,
        }),
        // The agent counts it at other moments.
        expect.objectContaining({ write_req: positive, read_hits: number, write_hits: 0 }),
      ]),
    },
  },
  {
    sends: ['GET', '/v1/bdbs/stats/last/{db}'],
    until: (body: Json) => (Object.values(body)[0] as Json)?.no_of_keys === 40,
    reads: expect.toSatisfy((body: Json) => {
      const [last] = Object.values(body) as Json[]
      return last.used_memory > 40_000 && last.replication_lag_bytes >= 0 && last.conns >= 0
    }),
  },
  {
    sends: ['GET', '/v1/bdbs/stats/last'],
    reads: expect.toSatisfy((body: Json) => Object.keys(body).length === 1),
  },
  { sends: ['GET', '/v1/bdbs/stats'], reads: [{ intervals: expect.any(Array) }] },
  {
    sends: ['GET', '/v1/bdbs/stats/{db}?metrics=total_req,used_memory'],
    reads: { intervals: expect.any(Array) },
  },
  {
    sends: ['GET', '/v1/bdbs/stats/{db}?interval=1sec'],
    status: 400,
    reads: { message: expect.stringContaining('interval') },
  },
  {
    sends: ['GET', '/v1/bdbs/stats/{db}?stime=2020-01-01T00:00:00Z&etime=2020-01-01T01:00:00Z'],
    reads: { intervals: [] },
  },
  { sends: ['GET', '/v1/shards/stats'], reads: [{ intervals: expect.any(Array) }, {}] },
  {
    sends: ['GET', '/v1/shards/stats/last'],
    // The replica may have been looked at before it had them.
    until: (body: Json) => (Object.values(body) as Json[]).every(({ no_of_keys }) => no_of_keys === 40),
    reads: expect.toSatisfy((body: Json) =>
      (Object.values(body) as Json[]).every(
        ({ used_memory, used_memory_rss }) => used_memory > 0 && used_memory_rss > 0,
      ),
    ),
  },
  { sends: ['GET', '/v1/nodes/stats'], reads: [{ uid: expect.anything(), intervals: expect.any(Array) }] },
  { sends: ['GET', '/v1/nodes/stats/1'], reads: { intervals: expect.any(Array) } },
  {
    sends: ['GET', '/v1/nodes/stats/last/1'],
    reads: expect.toSatisfy((body: Json) => {
      const [last] = Object.values(body) as Json[]
      return last.free_memory >= last.provisional_memory && last.cpu_idle >= 0 && last.cpu_idle <= 1
    }),
  },
  { sends: ['GET', '/v1/nodes/stats/9'], status: 404, reads: { error_code: 'node_not_exist' } },
  { sends: ['GET', '/v1/cluster/stats'], reads: { intervals: expect.any(Array) } },
  {
    sends: ['GET', '/v1/cluster/stats/last'],
    reads: { free_memory: positive, persistent_storage_free: positive },
  },
  { sends: ['GET', '/v1/bdbs/{db}/endpoint/stats'], reads: { state: 'serving', commands: positive } },
  { sends: ['GET', '/v1/bdbs/{db}/endpoint/clients'], reads: { clients: expect.any(Array) } },
  { sends: ['GET', '/v1/bdbs/{db}/availability'], reads: {} },
  {
    sends: ['GET', '/v1/bdbs/{db}/availability?extend_check=lag&availability_lag_tolerance_ms=5000'],
    reads: {},
  },
  { sends: ['GET', '/v1/actions?status=active'], reads: {} },
  { sends: ['DELETE', '/v1/bdbs/{db}'], reads: {} },
]
