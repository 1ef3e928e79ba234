import type { ShardStatistics, Traffic } from '@fairlead/api'
import type { Histogram } from './histogram.ts'
import type { Facts } from './read-facts.ts'
import { latencyHistogram, NODE, one, samplesOf, TICKS_PER_SECOND } from './read-metrics.ts'
import { type VendorName, vendorTable } from './vendor-table.ts'
import type { Reading, Sample } from './write-text.ts'

/** What `/v2` shows: the same facts under the names that dashboards of the wider API ask for. */
export function* readVendor(facts: Facts): Generator<Reading> {
  const { cluster } = facts.records
  const samples: Readonly<Record<VendorName, () => Iterable<Sample>>> = {
    db_memory_limit_bytes: () =>
      samplesOf(facts.records.databases, ({ uid, name, memoryBytes }) => [[cluster, uid, name], memoryBytes]),
    ...ofEndpoints(facts),
    ...ofShards(facts),
    ...ofNodes(facts),
  }
  for (const [name, metric] of Object.entries(vendorTable))
    yield { name, metric, samples: samples[name as VendorName]() }
}

function ofEndpoints({ measured: { traffic }, records: { cluster, databases } }: Facts) {
  const each = (read: (traffic: Traffic) => number | Histogram) => () =>
    samplesOf(databases, ({ uid }) => {
      const of = traffic.get(`db${uid}`)
      return of === undefined ? null : [[cluster, uid, `${uid}:1`], read(of)]
    })
  return {
    endpoint_ingress: each(({ bytesIn }) => bytesIn),
    endpoint_egress: each(({ bytesOut }) => bytesOut),
    endpoint_other_requests: each(({ requests }) => requests),
    endpoint_other_requests_latency_histogram: each((of) => latencyHistogram(of, 1)),
  }
}

function ofShards({ measured, records: { cluster, shards } }: Facts) {
  const { down } = measured
  const label = ({ id, databaseUid, isPrimary }: (typeof shards)[number]) => [
    ...[cluster, databaseUid, NODE, id],
    isPrimary ? 'master' : 'slave',
  ]
  const each = (read: (shard: ShardStatistics) => number) => () =>
    samplesOf(shards, (shard) => {
      const of = measured.shards.get(shard.id)
      return of === undefined ? null : [label(shard), read(of)]
    })
  return {
    redis_server_up: () =>
      samplesOf(measured.agentIsUp && down !== null ? shards : [], (shard) => [
        label(shard),
        Number(measured.shards.has(shard.id) && down?.has(shard.id) !== true),
      ]),
    redis_server_used_memory: each(({ usedMemory }) => usedMemory),
    redis_server_connected_clients: each(({ connections }) => connections),
    redis_server_blocked_clients: each(({ blocked }) => blocked),
    redis_server_db_keys: each(({ keys }) => keys),
  }
}

function ofNodes({ measured, records: { cluster, certificates }, nowMs }: Facts) {
  const { node, agentIsUp } = measured
  return {
    node_metrics_up: () => one(Number(agentIsUp), cluster, NODE),
    node_available_memory_bytes: () => (node === null ? [] : one(node.memoryFreeBytes, cluster, NODE)),
    node_persistent_storage_free_bytes: () => (node === null ? [] : one(node.diskFreeBytes, cluster, NODE)),
    node_cpu_seconds_total: () =>
      Object.entries(node?.ticks ?? {}).map(
        ([mode, ticks]): Sample => [[cluster, NODE, mode], ticks / TICKS_PER_SECOND],
      ),
    node_cert_expires_in_seconds: () =>
      certificates.map(({ name, endsAtMs }): Sample => [[cluster, NODE, name], (endsAtMs - nowMs) / 1_000]),
    total_nodes_count: () => one(1, cluster),
    total_live_nodes_count: () => one(Number(agentIsUp), cluster),
  }
}
