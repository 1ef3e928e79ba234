/** One metric: what it is, and which labels its series have. */
export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
}

const ofDatabase = ['database']
const ofShard = ['database', 'shard']

/** Every metric that `/metrics` may have, in the order in which it has them. docs/reference/metrics.md is printed from it. */
export const metricTable = {
  ...of({
    fairlead_build_info: ['gauge', 'Always 1; the version of the server, and of Node.', ['version', 'node']],
    process_start_time_seconds: ['gauge', 'When the server was started, in seconds since 1970.'],
    process_cpu_seconds_total: ['counter', 'Processor time of the server.'],
    process_resident_memory_bytes: ['gauge', 'Memory of the server.'],
    process_open_fds: ['gauge', 'Files and sockets that the server has open.'],
    process_max_fds: ['gauge', 'How many it may have.'],
    fairlead_heap_used_bytes: ['gauge', 'What the heap of the server holds.'],
    fairlead_event_loop_busy_seconds_total: [
      'counter',
      'How long the event loop of the server has worked, not waited.',
    ],
    fairlead_event_loop_delay_seconds: [
      'gauge',
      'How late the event loop was in the last 10 s that are over: in the middle (`p50`), `p99` and `max`.',
      ['stat'],
    ],
    fairlead_metrics_databases_left_out: [
      'gauge',
      'Databases without series of their own here: see FAIRLEAD_METRICS_DATABASES.',
    ],
  }),
  ...of({
    fairlead_api_requests_total: [
      'counter',
      'Requests to the API that were answered.',
      ['operation', 'status_class'],
    ],
    fairlead_api_request_duration_seconds: [
      'histogram',
      'From the beginning of a request until its answer is sent; streams, and requests that wait for an action, are left out.',
      ['operation'],
    ],
    fairlead_logins_total: ['counter', 'Passwords that were tried, and how that went.', ['outcome']],
    fairlead_store_query_duration_seconds: ['histogram', 'How long statements to the store took.'],
    fairlead_store_errors_total: ['counter', 'Statements that failed.', ['kind']],
    fairlead_store_up: ['gauge', '1: the store answered for this scrape.'],
  }),
  ...of({
    fairlead_agent_up: ['gauge', '1: the agent of the node answered at the last look (10 s).', ['node']],
    fairlead_agent_last_report_timestamp_seconds: [
      'gauge',
      'When it last did, in seconds since 1970.',
      ['node'],
    ],
    fairlead_proxy_up: ['gauge', '1: the proxy of the node answered at the last look.', ['node']],
    fairlead_node_cpu_seconds_total: [
      'counter',
      'Processor time of the machine, of all cores.',
      ['node', 'mode'],
    ],
    fairlead_node_memory_bytes: ['gauge', 'Memory of the machine.', ['node']],
    fairlead_node_memory_free_bytes: ['gauge', 'Memory that databases can still get.', ['node']],
    fairlead_node_disk_free_bytes: ['gauge', 'Free space where the data of databases lies.', ['node']],
    fairlead_certificate_expiry_timestamp_seconds: [
      'gauge',
      'When a certificate ends, in seconds since 1970. Fairlead renews its own by itself.',
      ['certificate', 'origin'],
    ],
  }),
  ...of({
    fairlead_reconciler_turns_total: ['counter', 'Turns of databases, and how they ended.', ['outcome']],
    fairlead_reconciler_turn_duration_seconds: ['histogram', 'How long turns took.'],
    fairlead_reconciler_running: ['gauge', 'Databases that have their turn now.'],
    fairlead_reconciler_waiting: ['gauge', 'Databases that wait for their turn.', ['queue']],
    fairlead_actions_active: ['gauge', 'Actions that have not ended.', ['kind', 'status']],
    fairlead_actions_waiting: ['gauge', 'Actions that wait, by hold_reason.', ['hold_reason']],
    fairlead_actions_ended_total: [
      'counter',
      'Actions that ended while this server worked on them.',
      ['kind', 'outcome'],
    ],
    fairlead_handovers_total: ['counter', 'Handovers, and how they ended.', ['outcome']],
    fairlead_handover_write_stop_seconds: [
      'histogram',
      'How long no shard took writes, of handovers that were not interrupted.',
    ],
    fairlead_handover_held_seconds: [
      'histogram',
      'How long an endpoint held its clients in a handover, whether they asked anything or not.',
    ],
    fairlead_handover_longest_wait_seconds: [
      'histogram',
      'Of each handover in which clients waited at the endpoint: how long the first of them waited, by the clock of the proxy.',
    ],
  }),
  ...of({
    fairlead_database_info: [
      'gauge',
      'Always 1; the name and the engine of a database.',
      ['database', 'name', 'engine', 'version', 'status'],
    ],
    fairlead_database_memory_used_bytes: ['gauge', 'Memory that its primaries use.', ofDatabase],
    fairlead_database_memory_limit_bytes: [
      'gauge',
      'Its memory_size; absent where it has no limit.',
      ofDatabase,
    ],
    fairlead_database_needs_person: [
      'gauge',
      '1: its action, or the database itself, goes on only when a person has acted; absent otherwise.',
      ofDatabase,
    ],
    fairlead_shard_up: ['gauge', '1: the engine of the shard answers.', ofShard],
    fairlead_shard_is_primary: ['gauge', '1: the shard is the primary of its group.', ofShard],
    fairlead_shard_memory_used_bytes: ['gauge', 'used_memory of the engine.', ofShard],
    fairlead_shard_memory_resident_bytes: ['gauge', 'Memory of its process.', ofShard],
    fairlead_shard_keys: ['gauge', 'Keys that it holds.', ofShard],
    fairlead_shard_connections: ['gauge', 'Clients that it has.', ofShard],
    fairlead_shard_blocked_clients: ['gauge', 'Clients that wait in a blocking command.', ofShard],
    fairlead_shard_replication_lag_bytes: [
      'gauge',
      'Of a primary: how far the slowest of its replicas is behind.',
      ofShard,
    ],
    fairlead_shard_commands_per_second: ['gauge', 'Commands in the last 10 s.', ofShard],
    fairlead_shard_evictions_per_second: ['gauge', 'Keys evicted in the last 10 s.', ofShard],
    fairlead_shard_cpu_ratio: ['gauge', 'Processor time in the last 10 s; 1 is one core.', ofShard],
  }),
  ...of({
    fairlead_endpoint_connections: ['gauge', 'Clients of the endpoint.', ofDatabase],
    fairlead_endpoint_requests_total: ['counter', 'Requests of its clients.', ofDatabase],
    fairlead_endpoint_received_bytes_total: ['counter', 'Bytes that clients sent.', ofDatabase],
    fairlead_endpoint_sent_bytes_total: ['counter', 'Bytes that clients got.', ofDatabase],
    fairlead_endpoint_request_duration_seconds: [
      'histogram',
      'How long requests took at the endpoint, with the wait for a handover.',
      ofDatabase,
    ],
  }),
} as const satisfies Readonly<Record<string, Metric>>

/** A name in the table. */
export type MetricName = keyof typeof metricTable

type Line = readonly [Metric['type'], string, (readonly string[])?]

function of<const Lines extends Readonly<Record<string, Line>>>(lines: Lines) {
  const metrics = Object.entries(lines).map(([name, [type, help, labels = []]]) => [
    name,
    { type, help, labels },
  ])
  return Object.fromEntries(metrics) as { readonly [Name in keyof Lines]: Metric }
}

/** A table of docs/reference/metrics.md. */
export function printMetricTable(table: Readonly<Record<string, Metric>>): string {
  const rows = Object.entries(table).map(
    ([name, { type, help, labels }]) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
  )
  return ['| metric | type | labels | meaning |', '|---|---|---|---|', ...rows].join('\n')
}
