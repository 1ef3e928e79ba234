import {
  absentMetrics,
  getClusterStats,
  getDatabaseStats,
  getLastClusterStats,
  getLastDatabaseStats,
  getLastNodeStats,
  getLastShardStats,
  getNodeStats,
  getShardStats,
  type Input,
  listDatabaseStats,
  listLastDatabaseStats,
  listLastNodeStats,
  listLastShardStats,
  listNodeStats,
  listShardStats,
  Refusal,
  type StatisticsKind,
  statisticsMetrics,
  timeIn,
} from '@fairlead/api'
import { databasesFor, type Principal } from '../../core/identity/access.ts'
import type { Databases } from '../../fleet/databases/databases-service.ts'
import type { Mount } from '../../http/mount.ts'
import type { SeriesKind } from '../../observe/statistics/columns.ts'
import type { Interval, IntervalsAsked, Statistics } from '../../observe/statistics/statistics-service.ts'

type Query = Input<typeof listDatabaseStats>['query']

/** The only node. The cluster is all nodes together. */
const THIS_NODE = 1

/** Serves statistics. Lists omit databases, and their shards, that the caller may not see. */
export function statisticsRoutes(
  mount: Mount,
  statistics: Statistics,
  databases: Pick<Databases, 'get' | 'shardsOf'>,
): void {
  const { allOf, series, last } = answersOf(statistics)
  const seen = (user: Principal) => {
    const only = databasesFor(user, 'view_all_bdb_stats')
    const uids = statistics.uids('bdb')
    return only === null ? uids : uids.filter((uid) => only.includes(uid))
  }
  const seenShards = async (user: Principal) => {
    const only = databasesFor(user, 'view_all_shard_stats')
    const uids = statistics.uids('shard')
    if (only === null) return uids
    const own = new Set(await databases.shardsOf(only))
    return uids.filter((uid) => own.has(uid))
  }
  const seenShard = async (uid: number, user: Principal) => {
    if (!(await seenShards(user)).includes(uid))
      throw new Refusal('shard_not_exist', `nothing is known of shard ${uid}`)
  }

  mount(listDatabaseStats, async ({ query }, { user }) => allOf('bdb', seen(user), query))
  mount(listLastDatabaseStats, async ({ query }, { user }) => last('bdb', seen(user), query))
  mount(getDatabaseStats, async ({ params: { uid }, query }) => {
    await databases.get(uid)
    return series('bdb', uid, query)
  })
  mount(getLastDatabaseStats, async ({ params: { uid }, query }) => {
    await databases.get(uid)
    return last('bdb', [uid], query)
  })

  mount(listShardStats, async ({ query }, { user }) => allOf('shard', await seenShards(user), query))
  mount(listLastShardStats, async ({ query }, { user }) => last('shard', await seenShards(user), query))
  mount(getShardStats, async ({ params: { uid }, query }, { user }) => {
    await seenShard(uid, user)
    return series('shard', uid, query)
  })
  mount(getLastShardStats, async ({ params: { uid }, query }, { user }) => {
    await seenShard(uid, user)
    return last('shard', [uid], query)
  })

  mount(listNodeStats, async ({ query }) => allOf('node', statistics.uids('node'), query))
  mount(listLastNodeStats, async ({ query }) => last('node', statistics.uids('node'), query))
  mount(getNodeStats, async ({ params: { uid }, query }) => series('node', mustBeNode(uid), query))
  mount(getLastNodeStats, async ({ params: { uid }, query }) => last('node', [mustBeNode(uid)], query))

  mount(getClusterStats, async ({ query }) => ({ intervals: series('node', THIS_NODE, query).intervals }))
  mount(getLastClusterStats, async ({ query }) => last('node', [THIS_NODE], query)[THIS_NODE] ?? {})
}

/** Builds the answers for visible objects. */
function answersOf(statistics: Statistics) {
  // A wrong query is refused before any search.
  const allOf = (kind: SeriesKind, uids: readonly number[], query: Query) => {
    const [asked, show] = [readQuery(query), toWire(kind, query)]
    return {
      *[Symbol.iterator]() {
        for (const uid of uids)
          yield { uid: String(uid), intervals: statistics.intervals(kind, uid, asked).map(show) }
      },
    }
  }
  const series = (kind: SeriesKind, uid: number, query: Query) => {
    const [asked, show] = [readQuery(query), toWire(kind, query)]
    return { uid: String(uid), intervals: statistics.intervals(kind, uid, asked).map(show) }
  }
  const last = (kind: SeriesKind, uids: readonly number[], query: Query) => {
    const [asked, show] = [readQuery(query), toWire(kind, query)]
    const shown = uids.flatMap((uid) => {
      const interval = statistics.last(kind, uid, asked)
      return interval === null ? [] : [[String(uid), show(interval)] as const]
    })
    return Object.fromEntries(shown)
  }
  return { allOf, series, last }
}

function mustBeNode(uid: number): number {
  if (uid === THIS_NODE) return uid
  throw new Refusal('node_not_exist', `there is no node ${uid}`)
}

function readQuery({ interval, stime, etime }: Query): IntervalsAsked {
  return {
    interval,
    fromMs: readTime('stime', stime),
    toMs: readTime('etime', etime),
  }
}

function readTime(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const time = timeIn(text)
  if (Number.isNaN(time))
    throw new Refusal('invalid_request', `${field}: is not a time; write it as 2026-11-21T12:00:00Z`)
  return time
}

/** Limits intervals to the requested metrics. */
function toWire(kind: StatisticsKind, { metrics }: Query) {
  const names: readonly string[] = Object.keys(statisticsMetrics[kind])
  const asked = metrics && new Set(metrics.split(',').map((name) => name.trim()))
  const unknown = [...(asked || [])].find((name) => !names.includes(name) && !absentMetrics.includes(name))
  if (unknown !== undefined)
    throw new Refusal('invalid_request', `metrics: ${unknown} is none of ${names.join(', ')}`)
  return ({ interval, fromMs, toMs, values }: Interval) => ({
    interval,
    stime: timeOf(fromMs),
    etime: timeOf(toMs),
    ...(asked ? Object.fromEntries(Object.entries(values).filter(([name]) => asked.has(name))) : values),
  })
}

/** Without milliseconds, like in the wider API. */
function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}
