import { type Address, ApiError, type ClientList, type EndpointReport, Refusal } from '@fairlead/api'
import { type EngineTls, messageOf } from '@fairlead/engine'
import { laggingGroup, type PrimaryOffsets, primaryOffsets } from '../../core/progress/replica-lag.ts'
import type { Database } from '../../core/state/database.ts'
import { ENDPOINT_HOST, endpointName } from '../../core/state/endpoint-reach.ts'
import type { ObservedDatabase } from '../../core/state/topology.ts'
import { type Describing, describeNode } from '../../nodes/describe-node.ts'
import { type ProxyLink, ProxyUnreachable } from '../../nodes/proxy-link.ts'
import type { Tls, TlsNow } from '../../tls/tls-service.ts'
import type { Databases, DatabaseView } from '../databases/databases-service.ts'

/** The result of a client's connection attempt. */
export interface ClientProbe {
  readonly found: 'served' | 'no listener' | 'no engine answers'
  /** The reason, if not served. */
  readonly why: string
}

export type Endpoints = ReturnType<typeof createEndpoints>

/** Examines endpoints, again on each call. `probeAsClient` connects like a client and reports the result. */
export function createEndpoints(deps: {
  readonly databases: Pick<Databases, 'get'>
  readonly proxy: ProxyLink
  readonly agent: Describing
  readonly probeAsClient: (address: Address, password: string, tls: EngineTls | null) => Promise<ClientProbe>
  readonly tls: Pick<Tls, 'current'>
  readonly look: (database: Database) => Promise<ObservedDatabase>
  readonly time: {
    readonly elapsed: () => number
    readonly pause: (ms: number) => Promise<void>
  }
}) {
  const { databases, proxy, agent, probeAsClient, tls } = deps
  return {
    /**
     * Resolves when clients can use the database. Throws Refusal bdb_unavailable_port_unbound without a
     * listener, and bdb_unavailable_shard_unreachable without an engine behind it.
     */
    async check(uid: number): Promise<void> {
      const view = await databases.get(uid)
      const addresses = addressesOf(view)
      if (addresses.length === 0)
        throw new Refusal('bdb_unavailable_port_unbound', `database ${uid} has no address yet`)
      const trust = view.database.tls ? trustOf(await tls.current()) : null
      const probes = await Promise.all(
        addresses.map(async ({ host, port }) => {
          const { found, why } = await probeAsClient({ host, port }, view.database.userPassword, trust)
          return { found, message: `${found}: ${why}` }
        }),
      )
      const unbound = probes.find(({ found }) => found === 'no listener')
      if (unbound !== undefined) throw new Refusal('bdb_unavailable_port_unbound', unbound.message)
      const silent = probes.find(({ found }) => found === 'no engine answers')
      if (silent !== undefined) throw new Refusal('bdb_unavailable_shard_unreachable', silent.message)
    },

    /**
     * Waits `toleranceMs` until the replicas of each group have what its primary has now. Returns why they
     * have not; undefined: they have, or the database has none.
     */
    async lag(uid: number, toleranceMs: number): Promise<string | undefined> {
      const { database } = await databases.get(uid)
      return waitForReplicas(database, toleranceMs, deps)
    },

    /**
     * Throws Refusal endpoint_not_exist if clients know the database's shards, unavailable without a proxy.
     */
    async stats(uid: number): Promise<EndpointReport> {
      await mustHaveEndpoint(databases, uid)
      const { endpoints } = await asked(proxy.reportProxy({}))
      const found = endpoints.find(({ id }) => id === endpointName(uid))
      if (found === undefined)
        throw new Refusal('endpoint_not_exist', `the endpoint of database ${uid} is not there yet`)
      return found.why === '' ? { ...found, why: await whyBegunAnew(agent) } : found
    },

    /** Lists at most `limit` clients, or only the one behind `via`. Throws like `stats`. */
    async clients(
      uid: number,
      query: { readonly limit: number; readonly via?: string },
    ): Promise<ClientList> {
      await mustHaveEndpoint(databases, uid)
      return asked(proxy.listClients({ params: { id: endpointName(uid) }, query }))
    },
  }
}

/** Programs give up a health check earlier. */
const MOST_LAG_MS = 5_000
const LOOK_AGAIN_MS = 100

async function waitForReplicas(
  database: Database,
  toleranceMs: number,
  { look, time }: Pick<Parameters<typeof createEndpoints>[0], 'look' | 'time'>,
): Promise<string | undefined> {
  if (database.replicas === 0) return undefined
  const until = time.elapsed() + Math.min(toleranceMs, MOST_LAG_MS)
  let wanted: PrimaryOffsets = new Map()
  for (;;) {
    const seen = await look(database).catch(messageOf)
    if (typeof seen === 'string') return `the shards of database ${database.uid} cannot be asked: ${seen}`
    wanted = new Map([...primaryOffsets(seen), ...wanted])
    const lagging = laggingGroup(seen, database.replicas, wanted)
    if (lagging === undefined) return undefined
    const leftMs = until - time.elapsed()
    if (leftMs <= 0)
      return `group ${lagging.group}: ${lagging.following} of ${database.replicas} replicas have what the primary had ${toleranceMs} ms ago`
    await time.pause(Math.min(leftMs, LOOK_AGAIN_MS))
  }
}

/** The cause of the previous proxy's death; empty if none died or the agent does not answer. */
async function whyBegunAnew(agent: Describing): Promise<string> {
  const node = await describeNode(agent).catch(() => null)
  const died = node?.proxy.diedBefore
  return died === undefined
    ? ''
    : `the previous proxy process died at ${new Date(died.at).toISOString()}: ${died.why}`
}

async function mustHaveEndpoint(databases: Pick<Databases, 'get'>, uid: number): Promise<void> {
  const { database } = await databases.get(uid)
  if (database.endpointPort === null)
    throw new Refusal('endpoint_not_exist', `clients of database ${uid} connect to its shards`)
}

async function asked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (cause) {
    if (!(cause instanceof ProxyUnreachable) && !(cause instanceof ApiError)) throw cause
    const isMissing = cause instanceof ApiError && cause.code === 'not_found'
    throw new Refusal(isMissing ? 'endpoint_not_exist' : 'unavailable', cause.message, { cause })
  }
}

/** Addresses for clients: one, or one for each group. */
export function addressesOf({ database, shards }: DatabaseView): readonly Address[] {
  if (database.endpointPort !== null) return [{ host: ENDPOINT_HOST, port: database.endpointPort }]
  const primaries = database.groups.flatMap(({ primaryShard }) =>
    shards.filter(({ id }) => id === primaryShard),
  )
  return primaries.length === database.groups.length ? primaries : []
}

/**
 * The certificates that clients trust. For an operator's certificate, the authority and host names are
 * unknown.
 */
export function trustOf({ ca, proxy }: TlsNow): EngineTls {
  return { ca: proxy.isOurs ? [ca] : [ca, proxy.cert], checksHost: proxy.isOurs }
}
