import type { ShardStatistics, StatisticsReport, Traffic } from '@fairlead/api'
import { memoryForNew } from '../../core/requests/refused-memory.ts'
import type { Values } from './columns.ts'
import { addLatencies, type Latencies } from './latency.ts'
import type { Sample } from './series.ts'

/** What went through an endpoint each second since the last look at it. */
export interface Flow {
  readonly conns: number
  readonly total_req: number
  readonly ingress_bytes: number
  readonly egress_bytes: number
  readonly latencies: Latencies | null
}

/** From two looks at one endpoint. One that was opened anew meanwhile has counted from nothing. */
export function flowOf(before: Traffic | undefined, now: Traffic, seconds: number): Flow {
  const from = before?.since === now.since ? before : null
  const rate = (name: 'requests' | 'bytesIn' | 'bytesOut') =>
    seconds <= 0 ? 0 : Math.max(0, now[name] - (from?.[name] ?? 0)) / seconds
  const counts = now.latencies.map((count, n) => Math.max(0, count - (from?.latencies[n] ?? 0)))
  const microseconds = Math.max(0, now.latencyUs - (from?.latencyUs ?? 0))
  return {
    conns: now.connections,
    total_req: rate('requests'),
    ingress_bytes: rate('bytesIn'),
    egress_bytes: rate('bytesOut'),
    latencies: counts.some((count) => count > 0) ? { microseconds, counts } : null,
  }
}

/** Columns of a shard. */
export function ofShard(shard: ShardStatistics): Values {
  return {
    total_req: shard.commands,
    connected_clients: shard.connections,
    blocked_clients: shard.blocked,
    ingress_bytes: shard.bytesIn,
    egress_bytes: shard.bytesOut,
    used_memory_rss: shard.residentMemory,
    no_of_expires: shard.expires,
    ...ofEngine(shard),
  }
}

function ofEngine(shard: ShardStatistics) {
  return {
    used_memory: shard.usedMemory,
    no_of_keys: shard.keys,
    read_hits: shard.hits,
    read_misses: shard.misses,
    expired_objects: shard.expired,
    evicted_objects: shard.evicted,
    ...(shard.denied !== undefined && { denied_req: shard.denied }),
    shard_cpu_user: shard.cpuUser,
    shard_cpu_system: shard.cpuSystem,
    replication_lag_bytes: shard.lagBytes,
  }
}

/**
 * Columns of a database: of its primaries, and of its endpoint. `flow` is undefined where clients know the
 * shards.
 */
export function ofDatabase(uid: number, shards: readonly ShardStatistics[], flow: Flow | undefined): Sample {
  const primaries = shards.filter(({ role }) => role === 'primary')
  const engines = addAll(primaries.map((shard) => ({ ...ofEngine(shard), ...kindsOf(shard) })))
  const cpu = addAll(
    shards.map(({ cpuUser, cpuSystem }) => ({ shard_cpu_user: cpuUser, shard_cpu_system: cpuSystem })),
  )
  const lag = Math.max(0, ...primaries.map(({ lagBytes }) => lagBytes))
  const { latencies = null, ...clients } = flow ?? addAll(primaries.map(clientsOf))
  return {
    kind: 'bdb',
    uid,
    latencies,
    values: { ...engines, ...cpu, replication_lag_bytes: lag, ...clients },
  } as Sample
}

/** Nothing from older agents. */
function kindsOf({ reads, writes }: ShardStatistics): Record<string, number> {
  return reads === undefined || writes === undefined ? {} : { read_req: reads, write_req: writes }
}

function clientsOf({ connections, commands, bytesIn, bytesOut }: ShardStatistics) {
  return { conns: connections, total_req: commands, ingress_bytes: bytesIn, egress_bytes: bytesOut }
}

/** Columns of a node: its machine, and all endpoints on it. */
export function ofNode(
  uid: number,
  before: StatisticsReport['ticks'] | null,
  report: StatisticsReport,
  promisedBytes: number,
  flows: Iterable<Flow>,
): Sample {
  const all = [...flows]
  const clients = addAll(all.map(({ latencies: _, ...rest }) => rest))
  const latencies = all.reduce<Latencies | null>((sum, flow) => addLatencies(sum, flow.latencies), null)
  const none = { conns: 0, total_req: 0, ingress_bytes: 0, egress_bytes: 0 }
  const { memoryFreeBytes, memoryTotalBytes, diskFreeBytes, ticks } = report
  const memory = { totalBytes: memoryTotalBytes, freeBytes: memoryFreeBytes }
  return {
    kind: 'node',
    uid,
    latencies,
    values: {
      ...shares(before, ticks),
      free_memory: memoryFreeBytes,
      provisional_memory: memoryForNew(promisedBytes, memory),
      persistent_storage_free: diskFreeBytes,
      ...none,
      ...clients,
    },
  }
}

function shares(before: StatisticsReport['ticks'] | null, now: StatisticsReport['ticks']): Values {
  if (before === null) return {}
  const [user, system, idle] = [now.user - before.user, now.system - before.system, now.idle - before.idle]
  const all = user + system + idle
  return all <= 0 ? {} : { cpu_user: user / all, cpu_system: system / all, cpu_idle: idle / all }
}

function addAll(parts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sum: Record<string, number> = {}
  for (const part of parts)
    for (const [name, value] of Object.entries(part)) sum[name] = (sum[name] ?? 0) + value
  return sum
}
