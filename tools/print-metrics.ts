import { metricTable, printMetricTable } from '../packages/server/src/metrics/metric-table.ts'
import { vendorTable } from '../packages/server/src/metrics/vendor-table.ts'

/** docs/reference/metrics.md, from the table of metrics. */
export function printMetrics(): string {
  return `${[...head, ...series, printMetricTable(metricTable), ...wider, printMetricTable(vendorTable)].join('\n')}\n`
}

const head = [
  '<!-- Printed by `npm run docs` from packages/server/src/metrics/metric-table.ts and tools/print-metrics.ts. Do not edit. -->',
  '# Metrics',
  '',
  '`GET /metrics` of the server, over HTTP and HTTPS, answers in the text format of Prometheus. Dashboard, alert rules and a scrape',
  'configuration lie in [monitoring/](../../monitoring/README.md).',
  '',
  '## Permissions',
  '',
  'Metrics name all databases, so no stranger may read them, from this machine either:',
  '',
  '- **the scrape token**, sent as `Authorization: Bearer …`. It lies in `metrics.token` in FAIRLEAD_HOME (in `server/own` of it, if the server has',
  '  a user of its own), is made at the first start, and only the owner of that folder can read it. It is good for metrics and for nothing else. To exchange',
  '  it, write another one of at least 16 characters into the file: it counts at once.',
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
  '## How many series there are',
  '',
  'A database has 3 series and 23 of its endpoint, and each of its shards has 11: 300 databases of two shards have some 14,000. Series of their own have the',
  '1,000 databases with the lowest uids (`FAIRLEAD_METRICS_DATABASES`); how many have none is `fairlead_metrics_databases_left_out`. There is no series of a',
  'client, of a user, or of an address, and no label that a client can choose. Names of databases are in `fairlead_database_info` alone:',
  '',
  '```',
  'fairlead_database_memory_used_bytes * on (database) group_left (name) fairlead_database_info',
  '```',
  '',
  'A metric without a series is not in an answer. Counters begin with the start of the server; those of endpoints with that of the endpoint. Values of shards and',
  'endpoints are those of the last look, which comes every 10 s. Where several servers share a store, each counts what it does: sum over them. While the store is',
  'away, metrics are answered, with what it said last, and `fairlead_store_up` is 0; only the scrape token is good then.',
  '',
  '## All metrics',
  '',
]

const wider = [
  '',
  '## Names of the wider API',
  '',
  'Dashboards of the wider API ask for other names, at `https://HOST:8070/v2`. `FAIRLEAD_METRICS_PORT=8070` serves those of them that Fairlead has a value for, at',
  'FAIRLEAD_HTTPS_ADDRESS (loopback unless set), with the certificate of the API, to the same readers as above. It is off by default, because two Fairleads on one',
  'machine would want the same port. If another process has it, Fairlead serves everything else, says so in its log, and tries again. Counters of connections, reads and writes apart, and',
  'what belongs to licences, disks of flash and replication between clusters are not there.',
  '',
]
