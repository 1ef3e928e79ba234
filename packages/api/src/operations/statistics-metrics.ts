/** Latencies of endpoints in microseconds, absent without requests. */
const latency = {
  avg_latency: 'Mean time from the arrival of a request at the endpoint to its answer, in microseconds',
  latency_p50: 'Ours: half of the requests were answered within this time, in microseconds',
  latency_p99: 'Ours: 99 of 100 requests were answered within this time, in microseconds',
} as const

/** Engines count hits of reads only; programs add up all four. */
const uncounted = {
  write_hits: 'Always 0: engines count hits and misses of reads only',
  write_misses: 'Always 0, for the same reason',
} as const

const ofEngines = {
  ...uncounted,
  used_memory: 'Bytes in use, of primaries',
  no_of_keys: 'Keys, of primaries',
  read_hits: 'Reads that found their key, per second',
  read_misses: 'Reads that found no key, per second',
  expired_objects: 'Keys that expired, per second',
  evicted_objects: 'Keys that were evicted, per second',
  denied_req:
    'Ours: requests that a user was not permitted (NOPERM), of primaries, per second. Absent for redis before 7.2',
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
  provisional_memory:
    'Bytes of memory that new databases may have: those free, and not reserved by memory_size of others',
  persistent_storage_free: 'Bytes free where shards keep their data',
  persistent_storage_avail: 'The same',
  ephemeral_storage_free: 'The same: there is one disk',
  ephemeral_storage_avail: 'The same',
  available_flash: 'Always 0: all data is in memory',
  provisional_flash: 'Always 0',
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
    read_req: 'Commands per second of the primaries that read keys and write none, in scripts too',
    read_res: 'The same',
    write_req: 'Commands per second of the primaries that write, in scripts too',
    write_res: 'The same',
    other_req: 'total_req without read_req and write_req, at least 0',
    other_res: 'The same',
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
    denied_req: 'Ours: requests that a user was not permitted, per second',
    used_memory: 'Bytes in use',
    no_of_keys: 'Keys',
  },
  node: ofNode,
  cluster: ofNode,
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>

/**
 * Metrics of the wider API that a program may ask for, and gets no value of, as there without flash storage
 * or traffic.
 */
export const absentMetrics: readonly string[] = [
  ...['avg_other_latency', 'avg_read_latency', 'avg_write_latency', 'last_req_time', 'last_res_time'],
  ...['fork_cpu_system', 'fork_cpu_user', 'main_thread_cpu_system', 'main_thread_cpu_user'],
  ...['mem_frag_ratio', 'mem_not_counted_for_evict', 'mem_size_lua', 'monitor_sessions_count'],
  ...['pubsub_channels', 'pubsub_patterns', 'total_connections_received', 'no_of_expires', 'avg_ttl'],
  ...['used_memory_peak', 'last_save_time', 'rdb_changes_since_last_save', 'aof_rewrite_inprog'],
  ...['cur_aof_rewrites', 'used_bigstore', 'used_ram', 'ram_overhead', 'disk_frag_ratio', 'bigstore_free'],
  ...['bigstore_io_dels', 'bigstore_io_read_bytes', 'bigstore_io_reads', 'bigstore_io_write_bytes'],
  ...['bigstore_io_writes', 'bigstore_iops', 'bigstore_kv_ops', 'bigstore_objs_flash', 'bigstore_objs_ram'],
  ...['bigstore_throughput', 'big_del_flash', 'big_del_ram', 'big_fetch_flash', 'big_fetch_ram'],
  ...['big_io_ratio_flash', 'big_io_ratio_redis', 'big_write_flash', 'big_write_ram'],
]

/** Kinds of objects with statistics. */
export type StatisticsKind = keyof typeof statisticsMetrics
