import { latencyBounds, type Traffic } from '@fairlead/api'
import type { Histogram } from './histogram.ts'
import { type MetricName, metricTable } from './metric-table.ts'
import type { Facts } from './read-facts.ts'
import type { Reading, Sample } from './write-text.ts'

/** The only node: server and agent are on one machine. */
export const NODE = 1

/** Yields the metrics in the order of the table. Samples are computed on demand. */
export function* readMetrics(facts: Facts): Generator<Reading> {
  const samples: Readonly<Record<MetricName, () => Iterable<Sample>>> = {
    ...ofServer(facts),
    ...ofApi(facts),
    ...ofNode(facts),
    ...ofWork(facts),
    ...ofDatabases(facts),
    ...ofShards(facts),
    ...ofEndpoints(facts),
  }
  for (const [name, metric] of Object.entries(metricTable))
    yield { name, metric, samples: samples[name as MetricName]() }
}

function ofServer({ version, process: of, records }: Facts) {
  return {
    fairlead_build_info: () => one(1, version, process.versions.node),
    process_start_time_seconds: () => one(of.startedAt),
    process_cpu_seconds_total: () => one(of.cpuSeconds),
    process_resident_memory_bytes: () => one(of.residentBytes),
    process_open_fds: () => (of.openFiles === null ? [] : one(of.openFiles)),
    process_max_fds: () => (of.mostFiles === null ? [] : one(of.mostFiles)),
    fairlead_heap_used_bytes: () => one(of.heapBytes),
    fairlead_event_loop_busy_seconds_total: () => one(of.busySeconds),
    fairlead_event_loop_delay_seconds: () => of.delays.map(([stat, seconds]): Sample => [[stat], seconds]),
    fairlead_metrics_databases_left_out: () => one(records.leftOut),
  }
}

function ofApi({ counters, storeIsUp }: Facts) {
  return {
    *fairlead_api_requests_total(): Iterable<Sample> {
      for (const { operation, byClass } of counters.requests())
        for (const [statusClass, count] of byClass) yield [[operation, statusClass], count]
    },
    *fairlead_api_request_duration_seconds(): Iterable<Sample> {
      for (const { operation, seconds } of counters.requests()) yield [[operation], seconds]
    },
    fairlead_logins_total: () => counters.logins.entries(),
    fairlead_store_query_duration_seconds: () => one(counters.storeSeconds),
    fairlead_store_errors_total: () => counters.storeErrors.entries(),
    fairlead_store_up: () => one(Number(storeIsUp)),
  }
}

/** The kernel counts in hundredths of a second. */
export const TICKS_PER_SECOND = 100

function ofNode({ measured, records }: Facts) {
  const { node } = measured
  return {
    fairlead_agent_up: () => one(Number(measured.agentIsUp), NODE),
    fairlead_agent_last_report_timestamp_seconds: () =>
      measured.atMs === 0 ? [] : one(measured.atMs / 1_000, NODE),
    fairlead_proxy_up: () => one(Number(measured.agentIsUp && measured.proxyIsUp), NODE),
    fairlead_node_cpu_seconds_total: () =>
      Object.entries(node?.ticks ?? {}).map(
        ([mode, ticks]): Sample => [[NODE, mode], ticks / TICKS_PER_SECOND],
      ),
    fairlead_node_memory_bytes: () => (node === null ? [] : one(node.memoryTotalBytes, NODE)),
    fairlead_node_memory_free_bytes: () => (node === null ? [] : one(node.memoryFreeBytes, NODE)),
    fairlead_node_disk_free_bytes: () => (node === null ? [] : one(node.diskFreeBytes, NODE)),
    fairlead_certificate_expiry_timestamp_seconds: () =>
      records.certificates.map(({ name, origin, endsAtMs }): Sample => [[name, origin], endsAtMs / 1_000]),
  }
}

function ofWork({ counters, load, records: { actions } }: Facts) {
  return {
    fairlead_reconciler_turns_total: () => counters.turns.entries(),
    fairlead_reconciler_turn_duration_seconds: () => one(counters.turnSeconds),
    fairlead_reconciler_running: () => one(load.running),
    fairlead_reconciler_waiting: () =>
      Object.entries(load.waiting).map(([queue, count]): Sample => [[queue], count]),
    fairlead_actions_active: () => sumBy(actions, ({ kind, status }) => [kind, status]),
    fairlead_actions_waiting: () =>
      sumBy(
        actions.filter(({ holdReason }) => holdReason !== null),
        ({ holdReason }) => [holdReason ?? ''],
      ),
    fairlead_actions_ended_total: () => counters.ended.entries(),
    fairlead_handovers_total: () => counters.handovers.entries(),
    fairlead_handover_write_stop_seconds: () => one(counters.writeStopSeconds),
    fairlead_handover_held_seconds: () => one(counters.heldSeconds),
    fairlead_handover_longest_wait_seconds: () => one(counters.longestWaitSeconds),
  }
}

function ofDatabases({ measured, records }: Facts) {
  const { databases, shards, needingPerson } = records
  return {
    fairlead_database_info: () =>
      samplesOf(databases, ({ uid, name, engine, version, status }) => [
        [uid, name, engine, version, status],
        1,
      ]),
    fairlead_database_memory_used_bytes: () => sumMemory(shards, measured),
    fairlead_database_memory_limit_bytes: () =>
      samplesOf(databases, ({ uid, memoryBytes }) => (memoryBytes > 0 ? [[uid], memoryBytes] : null)),
    fairlead_database_needs_person: () =>
      samplesOf(databases, ({ uid, isObstructed }) =>
        isObstructed || needingPerson.has(uid) ? [[uid], 1] : null,
      ),
  }
}

function ofShards({ measured, records: { shards } }: Facts) {
  const { down } = measured
  const each = (read: (shard: NonNullable<ReturnType<typeof measured.shards.get>>) => number) => () =>
    samplesOf(shards, ({ id, databaseUid }) => {
      const shard = measured.shards.get(id)
      return shard === undefined ? null : [[databaseUid, id], read(shard)]
    })
  return {
    fairlead_shard_up: () =>
      // Unknown without the agent; other metrics show that it does not answer.
      samplesOf(measured.agentIsUp && down !== null ? shards : [], ({ id, databaseUid }) => [
        [databaseUid, id],
        Number(measured.shards.has(id) && down?.has(id) !== true),
      ]),
    fairlead_shard_is_primary: () =>
      samplesOf(shards, ({ id, databaseUid, isPrimary }) => [[databaseUid, id], Number(isPrimary)]),
    fairlead_shard_memory_used_bytes: each(({ usedMemory }) => usedMemory),
    fairlead_shard_memory_resident_bytes: each(({ residentMemory }) => residentMemory),
    fairlead_shard_keys: each(({ keys }) => keys),
    fairlead_shard_connections: each(({ connections }) => connections),
    fairlead_shard_blocked_clients: each(({ blocked }) => blocked),
    fairlead_shard_replication_lag_bytes: () =>
      samplesOf(shards, ({ id, databaseUid, isPrimary }) => {
        const lag = measured.shards.get(id)?.lagBytes
        return lag === undefined || !isPrimary ? null : [[databaseUid, id], lag]
      }),
    fairlead_shard_commands_per_second: each(({ commands }) => commands),
    fairlead_shard_evictions_per_second: each(({ evicted }) => evicted),
    fairlead_shard_denied_requests_per_second: () =>
      samplesOf(shards, ({ id, databaseUid }) => {
        const denied = measured.shards.get(id)?.denied
        return denied === undefined ? null : [[databaseUid, id], denied]
      }),
    fairlead_shard_cpu_ratio: each(({ cpuUser, cpuSystem }) => cpuUser + cpuSystem),
  }
}

function ofEndpoints({ measured: { traffic }, records: { databases } }: Facts) {
  const each = (read: (traffic: Traffic) => number | Histogram) => () =>
    samplesOf(databases, ({ uid }) => {
      const of = traffic.get(`db${uid}`)
      return of === undefined ? null : [[uid], read(of)]
    })
  return {
    fairlead_endpoint_connections: each(({ connections }) => connections),
    fairlead_endpoint_requests_total: each(({ requests }) => requests),
    fairlead_endpoint_received_bytes_total: each(({ bytesIn }) => bytesIn),
    fairlead_endpoint_sent_bytes_total: each(({ bytesOut }) => bytesOut),
    fairlead_endpoint_request_duration_seconds: each((of) => latencyHistogram(of, 1e-6)),
  }
}

/** Every second one of the proxy's 41 bounds, from 128 µs to 4.2 s. */
const FIRST_BOUND = 6
const LAST_BOUND = 36

/** Latencies of an endpoint with fewer bounds. `unit` is the value of a microsecond: 1e-6 for seconds. */
export function latencyHistogram({ latencies, latencyUs }: Traffic, unit: number): Histogram {
  const bounds: number[] = []
  const counts: number[] = []
  let sum = 0
  for (const [n, count] of latencies.entries()) {
    sum += count
    if (n < FIRST_BOUND || n > LAST_BOUND || n % 2 === 1) continue
    bounds.push(Number(((latencyBounds[n] ?? 0) * unit).toPrecision(7)))
    counts.push(sum)
    sum = 0
  }
  return { bounds, counts: [...counts, sum], sum: latencyUs * unit }
}

/** A single series. */
export function one(value: number | Histogram, ...labels: readonly (string | number)[]): readonly Sample[] {
  return [[labels, value]]
}

/** Samples of all items, without those for which `read` returns null. */
export function* samplesOf<T>(all: Iterable<T>, read: (each: T) => Sample | null): Iterable<Sample> {
  for (const each of all) {
    const sample = read(each)
    if (sample !== null) yield sample
  }
}

function sumBy<T extends { readonly count: number }>(
  all: readonly T[],
  labelsOf: (each: T) => readonly string[],
): readonly Sample[] {
  const groups = Map.groupBy(all, (each) => labelsOf(each).join('\n'))
  return [...groups].map(([key, of]) => [key.split('\n'), of.reduce((sum, { count }) => sum + count, 0)])
}

function sumMemory(shards: Facts['records']['shards'], { shards: measured }: Facts['measured']) {
  const used = new Map<number, number>()
  for (const { id, databaseUid, isPrimary } of shards) {
    const of = measured.get(id)
    if (isPrimary && of !== undefined) used.set(databaseUid, (used.get(databaseUid) ?? 0) + of.usedMemory)
  }
  return samplesOf(used, ([uid, bytes]) => [[uid], bytes])
}
