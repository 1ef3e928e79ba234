import type { Metric } from './metric-table.ts'

const ofEndpoint = ['cluster', 'db', 'endpoint']
const ofShard = ['cluster', 'db', 'node', 'redis', 'role']
const ofNode = ['cluster', 'node']

/** The names of the wider API's metrics (`/v2` of port 8070) that Fairlead has a value for. */
export const vendorTable = {
  db_memory_limit_bytes: gauge('Limit of the database; 0: none.', ['cluster', 'db', 'db_name']),
  endpoint_ingress: counter('Bytes that clients sent.', ofEndpoint),
  endpoint_egress: counter('Bytes that clients got.', ofEndpoint),
  endpoint_other_requests: counter(
    'Requests. Reads and writes are not distinguished: all count here.',
    ofEndpoint,
  ),
  endpoint_other_requests_latency_histogram: {
    type: 'histogram',
    help: 'Duration of requests at the endpoint, in microseconds.',
    labels: ofEndpoint,
  },
  redis_server_up: gauge('1: the engine of the shard answers.', ofShard),
  redis_server_used_memory: gauge('used_memory of the engine.', ofShard),
  redis_server_connected_clients: gauge('Clients of the engine.', ofShard),
  redis_server_blocked_clients: gauge('Clients in a blocking command.', ofShard),
  redis_server_db_keys: gauge('Keys that it holds.', ofShard),
  node_metrics_up: gauge('1: the agent of the node answers.', ofNode),
  node_available_memory_bytes: gauge('Memory that databases can still get.', ofNode),
  node_persistent_storage_free_bytes: gauge('Free space of the file system with the data.', ofNode),
  node_cpu_seconds_total: counter('Processor time of the machine.', [...ofNode, 'mode']),
  node_cert_expires_in_seconds: gauge('Until a certificate ends.', [...ofNode, 'name']),
  total_nodes_count: gauge('Nodes of the cluster.', ['cluster']),
  total_live_nodes_count: gauge('Nodes that answer.', ['cluster']),
} as const satisfies Readonly<Record<string, Metric>>

/** A name in the table. */
export type VendorName = keyof typeof vendorTable

function gauge(help: string, labels: readonly string[]): Metric {
  return { type: 'gauge', help, labels }
}

function counter(help: string, labels: readonly string[]): Metric {
  return { type: 'counter', help, labels }
}
