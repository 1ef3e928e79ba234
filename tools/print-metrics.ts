import { metricTable, printMetricTable } from '../packages/server/src/observe/metrics/metric-table.ts'

/** docs/reference/metrics.md, from the table of metrics. */
export function printMetrics(): string {
  return `${[...head, ...series, printMetricTable(metricTable)].join('\n')}\n`
}

const head = [
  '<!-- Printed by `npm run docs` from packages/server/src/observe/metrics/metric-table.ts and tools/print-metrics.ts. Do not edit. -->',
  '# Metrics',
  '',
  '`GET /metrics` of the server, over HTTP and HTTPS, answers in the text format of Prometheus. Dashboard, alert rules and a scrape configuration: [monitoring/](../../monitoring/README.md).',
  '',
  '## Permissions',
  '',
  'Metrics name all databases, so only these may read them, on this machine too:',
  '',
  '- **the scrape token**, sent as `Authorization: Bearer …`. It is in `metrics.token` in FAIRLEAD_HOME (in `server/own` of it, if the server is a separate user), which only the owner can read, and is good for metrics only. To replace it, write another one of at least 16 characters into the file: it is valid immediately.',
  '- **a user** with `view_cluster_stats` whose role is not limited to some databases, with a token or with Basic.',
  '',
  '```yaml',
  'scrape_configs:',
  '  - job_name: fairlead',
  '    metrics_path: /metrics',
  '    scheme: https',
  '    authorization: { type: Bearer, credentials_file: fairlead.token }',
  '    tls_config: { ca_file: fairlead-ca.pem } # a copy of ca.pem in FAIRLEAD_HOME',
  "    static_configs: [{ targets: ['localhost:9443'] }]",
  '```',
  '',
]

const series = [
  '## Series',
  '',
  'A database has 3 series and 23 of its endpoint, and each of its shards has 11: 300 databases of two shards have some 14,000. The 1,000 databases with the lowest uids have series (`FAIRLEAD_METRICS_DATABASES`); `fairlead_metrics_databases_left_out` counts the others. There is no series of a client, a user or an address, and no label that a client can choose. Names of databases are in `fairlead_database_info` only:',
  '',
  '```',
  'fairlead_database_memory_used_bytes * on (database) group_left (name) fairlead_database_info',
  '```',
  '',
  'A metric without a series is not in an answer. Counters begin with the start of the server, those of endpoints with that of the endpoint. Values of shards and endpoints are read every 10 s. Servers that share a store count separately: sum over them. While the store is away, metrics are its last values, `fairlead_store_up` is 0, and only the scrape token is valid. During a rollback window the engine in `fairlead_database_info` is the old one.',
  '',
  '## All metrics',
  '',
]
