/** A metric and the labels of its series. */
export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
}

const ofDatabase = ['database']
const ofShard = ['database', 'shard']

/** Every metric of `/metrics`, in order. docs/reference/metrics.md is printed from it. */
export const metricTable = {
  ...of({
    fairlead_build_info: ['gauge', 'Always 1; the version of the server, and of Node.', ['version', 'node']],
    process_start_time_seconds: ['gauge', 'Unix time of the start of the server.'],
    process_cpu_seconds_total: ['counter', 'Processor time of the server.'],
    process_resident_memory_bytes: ['gauge', 'Memory of the server.'],
    process_open_fds: ['gauge', 'Files and sockets that the server has open.'],
    process_max_fds: ['gauge', 'Maximum number of open files and sockets.'],
    fairlead_heap_used_bytes: ['gauge', 'Bytes of the heap of the server.'],
    fairlead_event_loop_busy_seconds_total: [
      'counter',
      'Time for which the event loop of the server has worked, not waited.',
    ],
    fairlead_event_loop_delay_seconds: [
      'gauge',
      'Delay of the event loop in the last complete 10 s: median (`p50`), `p99` and `max`.',
      ['stat'],
    ],
    fairlead_metrics_databases_left_out: [
      'gauge',
      'Databases without their own series: see FAIRLEAD_METRICS_DATABASES.',
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
    fairlead_logins_total: ['counter', 'Logins with a password, by outcome.', ['outcome']],
    fairlead_store_query_duration_seconds: ['histogram', 'Duration of statements to the store.'],
    fairlead_store_errors_total: ['counter', 'Statements to the store that failed.', ['kind']],
    fairlead_store_up: ['gauge', '1: the store answered for this scrape.'],
  }),
  ...of({
    fairlead_agent_up: ['gauge', '1: the agent of the node answered at the last look (10 s).', ['node']],
    fairlead_agent_last_report_timestamp_seconds: [
      'gauge',
      'Unix time of the last report of the agent.',
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
    fairlead_node_disk_free_bytes: [
      'gauge',
      'Free space of the file system with the data of databases.',
      ['node'],
    ],
    fairlead_certificate_expiry_timestamp_seconds: [
      'gauge',
      'Unix time at which a certificate ends. Fairlead renews its own.',
      ['certificate', 'origin'],
    ],
  }),
  ...of({
    fairlead_reconciler_turns_total: ['counter', 'Passes over databases, by outcome.', ['outcome']],
    fairlead_reconciler_turn_duration_seconds: ['histogram', 'Duration of passes.'],
    fairlead_reconciler_running: ['gauge', 'Databases that are worked on now.'],
    fairlead_reconciler_waiting: ['gauge', 'Databases that wait for a pass.', ['queue']],
    fairlead_actions_active: ['gauge', 'Actions that have not ended.', ['kind', 'status']],
    fairlead_actions_waiting: ['gauge', 'Actions that wait, by hold_reason.', ['hold_reason']],
    fairlead_actions_ended_total: [
      'counter',
      'Actions that ended while this server worked on them.',
      ['kind', 'outcome'],
    ],
    fairlead_handovers_total: ['counter', 'Handovers, by outcome.', ['outcome']],
    fairlead_handover_write_stop_seconds: ['histogram', 'Write stop of handovers that were not interrupted.'],
    fairlead_handover_held_seconds: [
      'histogram',
      'Time for which an endpoint held its clients in a handover, with or without requests.',
    ],
    fairlead_handover_longest_wait_seconds: [
      'histogram',
      'Longest wait of a client in each handover with waiting clients, by the clock of the proxy.',
    ],
  }),
  ...of({
    fairlead_database_info: [
      'gauge',
      'Always 1; the name, the serving engine and the status of a database: window while nothing changes and old primaries stay as standbys.',
      ['database', 'name', 'engine', 'version', 'status'],
    ],
    fairlead_database_memory_used_bytes: [
      'gauge',
      'Memory that the primaries of a database use.',
      ofDatabase,
    ],
    fairlead_database_memory_limit_bytes: [
      'gauge',
      'memory_size of a database; absent without a limit.',
      ofDatabase,
    ],
    fairlead_database_needs_person: [
      'gauge',
      '1: its action, or the database itself, waits for a person; absent otherwise.',
      ofDatabase,
    ],
    fairlead_shard_up: ['gauge', '1: the engine of the shard answers.', ofShard],
    fairlead_shard_is_primary: ['gauge', '1: the shard is the primary of its group.', ofShard],
    fairlead_shard_memory_used_bytes: ['gauge', 'used_memory of the engine.', ofShard],
    fairlead_shard_memory_resident_bytes: ['gauge', 'Resident memory of the process of the shard.', ofShard],
    fairlead_shard_keys: ['gauge', 'Keys that it holds.', ofShard],
    fairlead_shard_connections: ['gauge', 'Clients of the shard.', ofShard],
    fairlead_shard_blocked_clients: ['gauge', 'Clients that wait in a blocking command.', ofShard],
    fairlead_shard_replication_lag_bytes: [
      'gauge',
      'Lag in bytes of the slowest replica of a primary.',
      ofShard,
    ],
    fairlead_shard_commands_per_second: ['gauge', 'Commands in the last 10 s.', ofShard],
    fairlead_shard_evictions_per_second: ['gauge', 'Keys evicted in the last 10 s.', ofShard],
    fairlead_shard_denied_requests_per_second: [
      'gauge',
      'Requests that a user was not permitted, in the last 10 s. Not of redis before 7.2.',
      ofShard,
    ],
    fairlead_shard_cpu_ratio: ['gauge', 'Processor time in the last 10 s; 1 is one core.', ofShard],
  }),
  ...of({
    fairlead_endpoint_connections: ['gauge', 'Clients of the endpoint.', ofDatabase],
    fairlead_endpoint_requests_total: ['counter', 'Requests of its clients.', ofDatabase],
    fairlead_endpoint_received_bytes_total: ['counter', 'Bytes that clients sent.', ofDatabase],
    fairlead_endpoint_sent_bytes_total: ['counter', 'Bytes that clients got.', ofDatabase],
    fairlead_endpoint_request_duration_seconds: [
      'histogram',
      'Duration of requests at the endpoint, the wait for a handover included.',
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
