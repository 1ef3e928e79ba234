/** Latencies of endpoints in microseconds, absent without requests. */
const latency = {
  avg_latency: 'Mean time from the arrival of a request at the endpoint to its answer, in microseconds',
  latency_p50: 'Ours: half of the requests were answered within this time, in microseconds',
  latency_p99: 'Ours: 99 of 100 requests were answered within this time, in microseconds',
} as const

const ofEngines = {
  used_memory: 'Bytes in use, of primaries',
  no_of_keys: 'Keys, of primaries',
  read_hits: 'Reads that found their key, per second',
  read_misses: 'Reads that found no key, per second',
  expired_objects: 'Keys that expired, per second',
  evicted_objects: 'Keys that were evicted, per second',
  shard_cpu_user: 'Processor time of the shards in user mode; 1 is one core',
  shard_cpu_system: 'Processor time of the shards in the kernel; 1 is one core',
  replication_lag_bytes: 'Ours: how far the slowest replica is behind, in bytes',
} as const

const ofNode = {
  cpu_user: 'Share of the processors in user mode, from 0 to 1',
  cpu_system: 'Share of the processors in the kernel, from 0 to 1',
  cpu_idle: 'Share of the processors that is idle, from 0 to 1',
  free_memory: 'Bytes of memory that are free for shards',
  available_memory: 'The same',
  persistent_storage_free: 'Bytes free where shards keep their data',
  conns: 'Clients of the endpoints',
  total_req: 'Requests of the endpoints, per second',
  ingress_bytes: 'Bytes from clients of the endpoints, per second',
  egress_bytes: 'Bytes to clients of the endpoints, per second',
  ...latency,
} as const

/** Metrics by kind of object, with the wider API's names and their meaning. */
export const statisticsMetrics = {
  bdb: {
    total_req: 'Requests per second: at the endpoint, or at the primaries where clients know the shards',
    instantaneous_ops_per_sec: 'The same',
    total_res: 'The same',
    conns: 'Clients of the endpoint, or of the primaries',
    ingress_bytes: 'Bytes from clients, per second',
    egress_bytes: 'Bytes to clients, per second',
    ...ofEngines,
    ...latency,
  },
  shard: {
    total_req:
      'Commands per second. Ten or fewer that find, add and remove no key are taken for questions of Fairlead, and count as none',
    connected_clients: 'Clients, with those of Fairlead',
    blocked_clients: 'Clients that wait in a command that blocks',
    ingress_bytes: 'Ours: bytes from clients, per second',
    egress_bytes: 'Ours: bytes to clients, per second',
    no_of_expires: 'Keys with a time to live',
    used_memory_rss: 'Bytes of the process in memory',
    ...ofEngines,
    used_memory: 'Bytes in use',
    no_of_keys: 'Keys',
  },
  node: ofNode,
  cluster: ofNode,
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>

/** Kinds of objects with statistics. */
export type StatisticsKind = keyof typeof statisticsMetrics
