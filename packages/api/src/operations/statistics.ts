import { type TProperties, Type } from 'typebox'
import { Moment } from '../contract/moment.ts'
import { operation } from '../contract/operation.ts'
import { DatabaseUid } from './databases.ts'
import { statisticsMetrics } from './statistics-metrics.ts'

/** The intervals of the wider API. */
const intervalsOfWiderApi = ['1sec', '10sec', '5min', '15min', '1hour', '12hour', '1week'] as const
/** Intervals in answers. */
export const statisticsIntervals = ['10sec', '5min', '15min', '1hour'] as const
/** An interval in answers. */
export type StatisticsInterval = (typeof statisticsIntervals)[number]

const metrics = Type.String({
  maxLength: 2_000,
  description: 'Names of metrics, with commas between them; all when absent',
})

const IntervalsQuery = Type.Object(
  {
    interval: Type.Optional(
      Type.Enum([...intervalsOfWiderApi], {
        description:
          'Default: 10sec. The others are means of it. The last two hours are kept; 1sec, 12hour and 1week are refused',
      }),
    ),
    stime: Type.Optional(Moment),
    etime: Type.Optional(Moment),
    metrics: Type.Optional(metrics),
  },
  { additionalProperties: false },
)

function pointOf(names: Readonly<Record<string, string>>) {
  const fields = Object.entries(names).map(([name, description]) => [
    name,
    Type.Optional(Type.Number({ description })),
  ])
  return Type.Object({
    interval: Type.Enum([...statisticsIntervals]),
    stime: Type.String(),
    etime: Type.String(),
    // Each value is an optional number.
    ...(Object.fromEntries(fields) as TProperties),
  })
}

const uidOf = (what: string) =>
  Type.Object({ uid: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: what }) })
const Bdb = pointOf(statisticsMetrics.bdb)
const Shard = pointOf(statisticsMetrics.shard)
const NodePoint = pointOf(statisticsMetrics.node)
const Cluster = pointOf(statisticsMetrics.cluster)
const seriesOf = (point: typeof Bdb) => Type.Object({ uid: Type.String(), intervals: Type.Array(point) })
const lastOf = (point: typeof Bdb) => Type.Record(Type.String(), point)

/** GET /v1/bdbs/stats: databases that the caller may see. */
export const listDatabaseStats = operation({
  method: 'GET',
  path: '/v1/bdbs/stats',
  summary: 'Statistics of all databases',
  since: '0.1.0',
  permission: 'view_all_bdb_stats',
  query: IntervalsQuery,
  ok: Type.Array(seriesOf(Bdb)),
  byEntry: true,
  errors: ['invalid_request'],
})

/** GET /v1/bdbs/stats/:uid. */
export const getDatabaseStats = operation({
  method: 'GET',
  path: '/v1/bdbs/stats/:uid',
  summary: 'Statistics of a database',
  since: '0.1.0',
  permission: 'view_bdb_stats',
  params: Type.Object({ uid: DatabaseUid }),
  query: IntervalsQuery,
  ok: seriesOf(Bdb),
  errors: ['invalid_request', 'db_not_exist'],
})

/** GET /v1/bdbs/stats/last: databases that the caller may see. */
export const listLastDatabaseStats = operation({
  method: 'GET',
  path: '/v1/bdbs/stats/last',
  summary: 'The last statistics of all databases, by uid',
  since: '0.1.0',
  permission: 'view_all_bdb_stats',
  query: IntervalsQuery,
  ok: lastOf(Bdb),
  errors: ['invalid_request'],
})

/** GET /v1/bdbs/stats/last/:uid. */
export const getLastDatabaseStats = operation({
  method: 'GET',
  path: '/v1/bdbs/stats/last/:uid',
  summary: 'The last statistics of a database, under its uid; empty while there are none',
  since: '0.1.0',
  permission: 'view_bdb_stats',
  params: Type.Object({ uid: DatabaseUid }),
  query: IntervalsQuery,
  ok: lastOf(Bdb),
  errors: ['invalid_request', 'db_not_exist'],
})

/** GET /v1/shards/stats: shards that the caller may see. */
export const listShardStats = operation({
  method: 'GET',
  path: '/v1/shards/stats',
  summary: 'Statistics of all shards',
  since: '0.1.0',
  permission: 'view_all_shard_stats',
  query: IntervalsQuery,
  ok: Type.Array(seriesOf(Shard)),
  byEntry: true,
  errors: ['invalid_request'],
})

/** GET /v1/shards/stats/:uid. */
export const getShardStats = operation({
  method: 'GET',
  path: '/v1/shards/stats/:uid',
  summary: 'Statistics of a shard',
  since: '0.1.0',
  permission: 'view_shard_stats',
  params: uidOf('Identifier of the shard'),
  query: IntervalsQuery,
  ok: seriesOf(Shard),
  errors: ['invalid_request', 'shard_not_exist'],
})

/** GET /v1/shards/stats/last: shards that the caller may see. */
export const listLastShardStats = operation({
  method: 'GET',
  path: '/v1/shards/stats/last',
  summary: 'The last statistics of all shards, by uid',
  since: '0.1.0',
  permission: 'view_all_shard_stats',
  query: IntervalsQuery,
  ok: lastOf(Shard),
  errors: ['invalid_request'],
})

/** GET /v1/shards/stats/last/:uid. */
export const getLastShardStats = operation({
  method: 'GET',
  path: '/v1/shards/stats/last/:uid',
  summary: 'The last statistics of a shard, under its uid',
  since: '0.1.0',
  permission: 'view_shard_stats',
  params: uidOf('Identifier of the shard'),
  query: IntervalsQuery,
  ok: lastOf(Shard),
  errors: ['invalid_request', 'shard_not_exist'],
})

/** GET /v1/nodes/stats. */
export const listNodeStats = operation({
  method: 'GET',
  path: '/v1/nodes/stats',
  summary: 'Statistics of all nodes',
  since: '0.1.0',
  permission: 'view_all_nodes_stats',
  query: IntervalsQuery,
  ok: Type.Array(seriesOf(NodePoint)),
  byEntry: true,
  errors: ['invalid_request'],
})

/** GET /v1/nodes/stats/:uid. */
export const getNodeStats = operation({
  method: 'GET',
  path: '/v1/nodes/stats/:uid',
  summary: 'Statistics of a node',
  since: '0.1.0',
  permission: 'view_node_stats',
  params: uidOf('Identifier of the node'),
  query: IntervalsQuery,
  ok: seriesOf(NodePoint),
  errors: ['invalid_request', 'node_not_exist'],
})

/** GET /v1/nodes/stats/last. */
export const listLastNodeStats = operation({
  method: 'GET',
  path: '/v1/nodes/stats/last',
  summary: 'The last statistics of all nodes, by uid',
  since: '0.1.0',
  permission: 'view_all_nodes_stats',
  query: IntervalsQuery,
  ok: lastOf(NodePoint),
  errors: ['invalid_request'],
})

/** GET /v1/nodes/stats/last/:uid. */
export const getLastNodeStats = operation({
  method: 'GET',
  path: '/v1/nodes/stats/last/:uid',
  summary: 'The last statistics of a node, under its uid',
  since: '0.1.0',
  permission: 'view_node_stats',
  params: uidOf('Identifier of the node'),
  query: IntervalsQuery,
  ok: lastOf(NodePoint),
  errors: ['invalid_request', 'node_not_exist'],
})

/** GET /v1/cluster/stats. */
export const getClusterStats = operation({
  method: 'GET',
  path: '/v1/cluster/stats',
  summary: 'Statistics of the cluster',
  since: '0.1.0',
  permission: 'view_cluster_stats',
  query: IntervalsQuery,
  ok: Type.Object({ intervals: Type.Array(Cluster) }),
  errors: ['invalid_request'],
})

/** GET /v1/cluster/stats/last. */
export const getLastClusterStats = operation({
  method: 'GET',
  path: '/v1/cluster/stats/last',
  summary: 'The last statistics of the cluster; empty while there are none',
  since: '0.1.0',
  permission: 'view_cluster_stats',
  query: IntervalsQuery,
  ok: Type.Partial(Cluster),
  errors: ['invalid_request'],
})
