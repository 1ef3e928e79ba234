import { ApiError, type Database, type operations, type Sent, type statisticsMetrics } from '@fairlead/api'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api } from './api.ts'
import { keys } from './keys.ts'
import { useMay } from './permissions.ts'
import { retryUnlessRefused } from './query-clients.ts'

/** Query of the list of databases. */
export type DatabasesQuery = NonNullable<Sent<typeof operations.listDatabases>['query']>
/** Polling intervals of data without events. Hidden tabs do not poll. */
const STATS_MS = 10_000
const LIVE_STATS_MS = 4_000
const AVAILABILITY_MS = 5_000

/** The session's user; an error 401: none. */
export function useSelf() {
  return useQuery({
    queryKey: keys.self,
    queryFn: () => api.getSelf({}),
    retry: retryUnlessRefused,
    staleTime: 60_000,
  })
}

/** Maximum for a list of all databases; the page states if there are more. */
export const MOST_DATABASES = 1_000

/** A page of databases. The old rows stay during a query. */
export function useDatabases(query: DatabasesQuery, isAllowed = true) {
  return useQuery({
    enabled: isAllowed,
    queryKey: [...keys.databases, query],
    queryFn: () => api.listDatabases({ query }),
    placeholderData: keepPreviousData,
  })
}

/** One database. */
export function useDatabase(uid: number | null) {
  return useQuery({
    queryKey: keys.database(uid ?? 0),
    queryFn: () => api.getDatabase({ params: { uid: uid ?? 0 } }).then(withoutPassword),
    enabled: uid !== null,
  })
}

/** Drops the password, which the console requests only to show it. */
function withoutPassword({
  authentication_engine_pass: _,
  authentication_redis_pass: __,
  ...others
}: Database): Database {
  return others
}

/** The engine processes of a database. */
export function useShards(uid: number) {
  return useQuery({
    queryKey: keys.shards(uid),
    queryFn: () => api.listDatabaseShards({ params: { uid } }),
    refetchInterval: STATS_MS,
  })
}

const LINKS_MS = 30_000

/** The shards of a database with their links, and its endpoint, seldom: for a row of a list. */
export function useLinks(uid: number) {
  const may = useMay()
  const mayAsk = may('view_endpoint_stats', uid)
  return useQuery({
    queryKey: [...keys.shards(uid), 'links'],
    queryFn: async () => {
      const asked = { params: { uid } }
      const [shards, endpoint] = await Promise.all([
        api.listDatabaseShards(asked),
        // A database without an endpoint process has none.
        mayAsk ? api.getEndpointStats(asked).catch(() => undefined) : undefined,
      ])
      return { shards, endpoint }
    },
    refetchInterval: LINKS_MS,
  })
}

/** Asks like a client whether the database is served; `checkedAt` is `dataUpdatedAt`. */
export function useAvailability(uid: number | null) {
  return useQuery({
    queryKey: keys.availability(uid ?? 0),
    queryFn: async (): Promise<{ readonly served: boolean; readonly why: string }> => {
      try {
        await api.getAvailability({ params: { uid: uid ?? 0 } })
        return { served: true, why: '' }
      } catch (cause) {
        if (cause instanceof ApiError && cause.status === 503) return { served: false, why: cause.message }
        throw cause
      }
    },
    refetchInterval: AVAILABILITY_MS,
    enabled: uid !== null,
  })
}

/** Number of listed clients. */
export const MOST_CLIENTS = 100

/** Clients of an endpoint, the oldest first. The proxy is only asked while they are shown. */
export function useClients(uid: number) {
  return useQuery({
    queryKey: keys.clients(uid),
    queryFn: () => api.listEndpointClients({ params: { uid }, query: { limit: MOST_CLIENTS } }),
    refetchInterval: AVAILABILITY_MS,
  })
}

/** The effects of a deletion now. */
export function useDeletionPlan(uid: number) {
  return useQuery({
    queryKey: keys.deletion(uid),
    queryFn: async () => {
      const { plan } = await api.deleteDatabase({ params: { uid }, query: { dry_run: 'true' } })
      if (plan === undefined) throw new Error('a dry run without a plan')
      return plan
    },
    refetchInterval: AVAILABILITY_MS,
    gcTime: 0,
  })
}

/** An interval of a database. The contract makes its fields from this table, unknown to the compiler. */
export type StatsPoint = { readonly [Name in keyof (typeof statisticsMetrics)['bdb']]?: number }
type Interval = StatsPoint & { readonly stime: string; readonly etime: string }

const SHOWN_MS = 900_000

/** The last 15 minutes of a database, in intervals of 10 seconds. */
export function useSeries(uid: number, isAllowed: boolean) {
  return useQuery({
    queryKey: keys.stats(uid),
    queryFn: async () => {
      const stime = new Date(Date.now() - SHOWN_MS).toISOString()
      const { intervals } = await api.getDatabaseStats({
        params: { uid },
        query: { interval: '10sec', stime },
      })
      return intervals as readonly Interval[]
    },
    refetchInterval: LIVE_STATS_MS,
    enabled: isAllowed,
  })
}

/** The last interval of all databases, by uid. */
export function useLastStats(isAllowed: boolean) {
  return useQuery({
    queryKey: [...keys.databases, 'stats'],
    queryFn: async () => {
      const metrics = 'total_req,used_memory,latency_p99,conns,evicted_objects'
      return (await api.listLastDatabaseStats({ query: { metrics } })) as Readonly<Record<string, StatsPoint>>
    },
    refetchInterval: STATS_MS,
    enabled: isAllowed,
  })
}

/** Possible upgrade targets of a database, and obstacles of the others. */
export function useTargets(uid: number) {
  return useQuery({ queryKey: keys.targets(uid), queryFn: () => api.listUpgradeTargets({ params: { uid } }) })
}

/** Query of the list of actions. */
export type ActionsQuery = NonNullable<Sent<typeof operations.listActions>['query']>
/** A page of the actions, the newest first. */
export function useActions(query: ActionsQuery) {
  return useQuery({
    queryKey: [...keys.actions, query],
    queryFn: () => api.listActions({ query }).then((answer) => answer['state-machines']),
    placeholderData: keepPreviousData,
  })
}

/** Enough for recently ended actions. */
const NEWEST = 60

/** The newest actions and all running ones, since a rollback window may last weeks. The newest first. */
export function useKnownActions(isAllowed = true) {
  return useQuery({
    enabled: isAllowed,
    queryKey: [...keys.actions, 'known'],
    queryFn: async () => {
      const queries: readonly ActionsQuery[] = [
        { limit: NEWEST },
        { status: 'active', limit: 1_000 },
        { status: 'pending', limit: 1_000 },
      ]
      const answers = await Promise.all(queries.map((query) => api.listActions({ query })))
      const all = answers.flatMap((answer) => answer['state-machines'])
      return [...new Map(all.map((action) => [action.action_uid, action])).values()]
    },
  })
}

/** The newest actions of one database. */
export function useActionsOf(uid: number) {
  return useQuery({
    queryKey: [...keys.actions, 'of', uid],
    queryFn: () => api.listDatabaseActions({ params: { uid }, query: { limit: 8 } }),
  })
}

/** One action with its lanes, orders and certificates. */
export function useAction(uid: string) {
  return useQuery({ queryKey: keys.action(uid), queryFn: () => api.getAction({ params: { uid } }) })
}

/** Right after a handover there is no trace yet. */
const READY_SOON_MS = 1_000

/** The trace of a handover, by its place among the certificates from 1 on. It never changes. */
export function useTrace(uid: string, handover: number, isWanted: boolean) {
  return useQuery({
    queryKey: keys.trace(uid, handover),
    queryFn: () => api.getHandoverTrace({ params: { uid, n: handover } }),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: isWanted,
    refetchOnWindowFocus: false,
    refetchInterval: ({ state: { error } }) =>
      error instanceof ApiError && error.code === 'trace_not_ready' ? READY_SOON_MS : false,
  })
}

/** Machines with an agent. */
export function useNodes(isAllowed = true) {
  return useQuery({
    queryKey: keys.nodes,
    queryFn: () => api.listNodes({}),
    refetchInterval: STATS_MS,
    enabled: isAllowed,
  })
}

/** Engine builds of this cluster. */
export function useBuilds(isAllowed = true) {
  return useQuery({ queryKey: keys.builds, queryFn: () => api.listEngineVersions({}), enabled: isAllowed })
}

const FETCHES_MS = 1_000

/** The last fetches of builds, asked for often while one runs. */
export function useFetches() {
  return useQuery({
    queryKey: keys.fetches,
    queryFn: () => api.listEngineFetches({}),
    refetchInterval: ({ state: { data = [] } }) =>
      data.some(({ state }) => state === 'running') ? FETCHES_MS : false,
  })
}

/** The catalogue of modules. */
export function useModules() {
  return useQuery({ queryKey: keys.modules, queryFn: () => api.listModules({}) })
}

/** Settings of the cluster, its sign-in policy, and its certificates. */
export function useCluster() {
  return useQuery({
    queryKey: keys.cluster,
    queryFn: async () => {
      const [cluster, policy, certificates] = await Promise.all([
        api.getCluster({}),
        api.getPolicy({}),
        api.getCertificates({}),
      ])
      return { cluster, policy, certificates }
    },
  })
}

/** Settings of the cluster only, like the password rules. */
export function useSettings(isAllowed: boolean) {
  return useQuery({
    queryKey: [...keys.cluster, 'settings'],
    queryFn: () => api.getCluster({}),
    enabled: isAllowed,
  })
}

/** The users of the cluster. */
export function useUsers() {
  return useQuery({ queryKey: keys.users, queryFn: () => api.listUsers({}) })
}

/** The roles of the cluster. */
export function useRoles(isAllowed = true) {
  return useQuery({ queryKey: keys.roles, queryFn: () => api.listRoles({}), enabled: isAllowed })
}

/** Permissions by name of the management. */
export function usePermissions() {
  return useQuery({ queryKey: keys.permissions, queryFn: () => api.listPermissions({}) })
}

/** Query of the audit. */
export type LogsQuery = NonNullable<Sent<typeof operations.listLogs>['query']>
/** A page of the audit, the newest record first. */
export function useLogs(query: LogsQuery, isAllowed = true) {
  return useQuery({
    queryKey: [...keys.logs, query],
    queryFn: () => api.listLogs({ query: { order: 'desc', ...query } }),
    placeholderData: keepPreviousData,
    enabled: isAllowed,
  })
}
