import type { StatisticsKind } from '@fairlead/api'

/**
 * What is kept of each kind, in this order. Names of the answers; those that say the same as another are made
 * from it when they are shown.
 */
export const columns = {
  bdb: [
    ...(['total_req', 'conns', 'ingress_bytes', 'egress_bytes', 'used_memory', 'no_of_keys'] as const),
    ...(['read_req', 'write_req', 'read_hits', 'read_misses'] as const),
    ...(['expired_objects', 'evicted_objects', 'denied_req'] as const),
    ...(['shard_cpu_user', 'shard_cpu_system', 'replication_lag_bytes'] as const),
    ...(['avg_latency', 'latency_p50', 'latency_p99'] as const),
  ],
  shard: [
    ...(['total_req', 'connected_clients', 'blocked_clients', 'ingress_bytes', 'egress_bytes'] as const),
    ...(['used_memory', 'used_memory_rss', 'no_of_keys', 'no_of_expires', 'read_hits'] as const),
    ...(['read_misses', 'expired_objects', 'evicted_objects', 'denied_req'] as const),
    ...(['shard_cpu_user', 'shard_cpu_system', 'replication_lag_bytes'] as const),
  ],
  node: [
    ...(['cpu_user', 'cpu_system', 'cpu_idle', 'free_memory', 'provisional_memory'] as const),
    'persistent_storage_free',
    ...(['conns', 'total_req', 'ingress_bytes', 'egress_bytes'] as const),
    ...(['avg_latency', 'latency_p50', 'latency_p99'] as const),
  ],
} as const

/** What a series is kept of: the cluster has the columns of its nodes. */
export type SeriesKind = Exclude<StatisticsKind, 'cluster'>

/** The values of a point, by column; what was not measured is left out. */
export type Values = Readonly<Record<string, number>>

/**
 * What remains of a value while nothing happens: sizes and counts stay, rates are nothing, times are unknown.
 */
export function stillOf(values: Values): Values {
  const kept = Object.entries(values).filter(([name]) => !times.has(name))
  return Object.fromEntries(kept.map(([name, value]) => [name, sizes.has(name) ? value : 0]))
}

const times: ReadonlySet<string> = new Set(['avg_latency', 'latency_p50', 'latency_p99'])
const sizes: ReadonlySet<string> = new Set([
  ...['conns', 'connected_clients', 'blocked_clients', 'used_memory', 'used_memory_rss', 'no_of_keys'],
  ...['no_of_expires', 'free_memory', 'provisional_memory', 'persistent_storage_free'],
])

/** As answers name them. */
export function shown(kind: SeriesKind, values: Values): Values {
  const all = { ...values, ...otherRequests(values) }
  const added = Object.entries(copies[kind]).flatMap(([name, from]) => {
    const value = all[from]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...all, ...Object.fromEntries(added), ...(kind === 'node' ? noFlash : uncounted) }
}

/** The endpoint counts all requests, the engines those of a kind: at a change they differ for a moment. */
function otherRequests({ total_req: all, read_req: reads, write_req: writes }: Values): Values {
  if (all === undefined || reads === undefined || writes === undefined) return {}
  return { other_req: Math.max(0, all - reads - writes) }
}

const copies: Readonly<Record<SeriesKind, Readonly<Record<string, string>>>> = {
  bdb: {
    instantaneous_ops_per_sec: 'total_req',
    total_res: 'total_req',
    read_res: 'read_req',
    write_res: 'write_req',
    other_res: 'other_req',
  },
  shard: {},
  node: {
    available_memory: 'free_memory',
    persistent_storage_avail: 'persistent_storage_free',
    ephemeral_storage_free: 'persistent_storage_free',
    ephemeral_storage_avail: 'persistent_storage_free',
  },
}
const uncounted = { write_hits: 0, write_misses: 0 }
const noFlash = { available_flash: 0, provisional_flash: 0 }
