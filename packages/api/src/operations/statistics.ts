import { type TProperties, Type } from 'typebox'
import { closed } from '../contract/closed.ts'
import { Moment } from '../contract/moment.ts'
import { operation } from '../contract/operation.ts'
import { DatabaseUid } from './databases.ts'
import { statisticsMetrics } from './statistics-metrics.ts'

/** Intervals in queries and answers. Those of the wider API without 1sec, 12hour and 1week. */
export const statisticsIntervals = ['10sec', '5min', '15min', '1hour'] as const
/** An interval in answers. */
export type StatisticsInterval = (typeof statisticsIntervals)[number]

const metrics = Type.String({
  maxLength: 2_000,
  description: 'Names of metrics, with commas between them; all when absent',
})

const IntervalsQuery = closed({
  interval: Type.Optional(
    Type.Enum([...statisticsIntervals], {
      description: 'Default: 10sec. The others are means of it. The last two hours are kept',
    }),
  ),
  stime: Type.Optional(Moment),
  etime: Type.Optional(Moment),
  metrics: Type.Optional(metrics),
})

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

/** Shared by all of them. */
const statistics = { method: 'GET', query: IntervalsQuery, errors: ['invalid_request'] } as const

/** GET /v1/bdbs/stats: databases that the caller may see. */
export const listDatabaseStats = operation({
  ...statistics,
  path: '/v1/bdbs/stats',
  summary: 'Statistics of all databases',
  permission: 'view_all_bdb_stats',
  ok: Type.Array(seriesOf(Bdb)),
  byEntry: true,
})

/** GET /v1/bdbs/stats/:uid. */
export const getDatabaseStats = operation({
  ...statistics,
  path: '/v1/bdbs/stats/:uid',
  summary: 'Statistics of a database',
  permission: 'view_bdb_stats',
  params: Type.Object({ uid: DatabaseUid }),
  ok: seriesOf(Bdb),
  errors: [...statistics.errors, 'db_not_exist'],
})

/** GET /v1/bdbs/stats/last: databases that the caller may see. */
export const listLastDatabaseStats = operation({
  ...statistics,
  path: '/v1/bdbs/stats/last',
  summary: 'The last statistics of all databases, by uid',
  permission: 'view_all_bdb_stats',
  ok: lastOf(Bdb),
})

/** GET /v1/bdbs/stats/last/:uid. */
export const getLastDatabaseStats = operation({
  ...statistics,
  path: '/v1/bdbs/stats/last/:uid',
  summary: 'The last statistics of a database, under its uid; empty while there are none',
  permission: 'view_bdb_stats',
  params: Type.Object({ uid: DatabaseUid }),
  ok: lastOf(Bdb),
  errors: [...statistics.errors, 'db_not_exist'],
})

/** GET /v1/shards/stats: shards that the caller may see. */
export const listShardStats = operation({
  ...statistics,
  path: '/v1/shards/stats',
  summary: 'Statistics of all shards',
  permission: 'view_all_shard_stats',
  ok: Type.Array(seriesOf(Shard)),
  byEntry: true,
})

/** GET /v1/shards/stats/:uid. */
export const getShardStats = operation({
  ...statistics,
  path: '/v1/shards/stats/:uid',
  summary: 'Statistics of a shard',
  permission: 'view_shard_stats',
  params: uidOf('Identifier of the shard'),
  ok: seriesOf(Shard),
  errors: [...statistics.errors, 'shard_not_exist'],
})

/** GET /v1/shards/stats/last: shards that the caller may see. */
export const listLastShardStats = operation({
  ...statistics,
  path: '/v1/shards/stats/last',
  summary: 'The last statistics of all shards, by uid',
  permission: 'view_all_shard_stats',
  ok: lastOf(Shard),
})

/** GET /v1/shards/stats/last/:uid. */
export const getLastShardStats = operation({
  ...statistics,
  path: '/v1/shards/stats/last/:uid',
  summary: 'The last statistics of a shard, under its uid',
  permission: 'view_shard_stats',
  params: uidOf('Identifier of the shard'),
  ok: lastOf(Shard),
  errors: [...statistics.errors, 'shard_not_exist'],
})

/** GET /v1/nodes/stats. */
export const listNodeStats = operation({
  ...statistics,
  path: '/v1/nodes/stats',
  summary: 'Statistics of all nodes',
  permission: 'view_all_nodes_stats',
  ok: Type.Array(seriesOf(NodePoint)),
  byEntry: true,
})

/** GET /v1/nodes/stats/:uid. */
export const getNodeStats = operation({
  ...statistics,
  path: '/v1/nodes/stats/:uid',
  summary: 'Statistics of a node',
  permission: 'view_node_stats',
  params: uidOf('Identifier of the node'),
  ok: seriesOf(NodePoint),
  errors: [...statistics.errors, 'node_not_exist'],
})

/** GET /v1/nodes/stats/last. */
export const listLastNodeStats = operation({
  ...statistics,
  path: '/v1/nodes/stats/last',
  summary: 'The last statistics of all nodes, by uid',
  permission: 'view_all_nodes_stats',
  ok: lastOf(NodePoint),
})

/** GET /v1/nodes/stats/last/:uid. */
export const getLastNodeStats = operation({
  ...statistics,
  path: '/v1/nodes/stats/last/:uid',
  summary: 'The last statistics of a node, under its uid',
  permission: 'view_node_stats',
  params: uidOf('Identifier of the node'),
  ok: lastOf(NodePoint),
  errors: [...statistics.errors, 'node_not_exist'],
})

/** GET /v1/cluster/stats. */
export const getClusterStats = operation({
  ...statistics,
  path: '/v1/cluster/stats',
  summary: 'Statistics of the cluster',
  permission: 'view_cluster_stats',
  ok: Type.Object({ intervals: Type.Array(Cluster) }),
})

/** GET /v1/cluster/stats/last. */
export const getLastClusterStats = operation({
  ...statistics,
  path: '/v1/cluster/stats/last',
  summary: 'The last statistics of the cluster; empty while there are none',
  permission: 'view_cluster_stats',
  ok: Type.Partial(Cluster),
})
