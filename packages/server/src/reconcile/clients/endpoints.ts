import { type Address, ApiError, type EndpointReport, type EndpointSpec } from '@fairlead/api'
import type { WaitedClients } from '../../core/state/action.ts'
import { type Database, hasEndpoint, type ShardRecord } from '../../core/state/database.ts'
import { ENDPOINT_HOST, endpointName } from '../../core/state/endpoint-name.ts'
import type { Goal } from '../../core/state/goal.ts'
import type { Obstacle } from '../../core/state/obstacle.ts'
import { pauseAfter } from '../../core/state/pause-after.ts'
import type { ObservedDatabase } from '../../core/state/topology.ts'
import { findPortWithin, type PartOfPorts } from '../../fleet/databases/taken-ports.ts'
import { ProxyUnreachable } from '../../nodes/proxy-link.ts'
import type { TlsNow } from '../../tls/tls-service.ts'
import type {
  Certifying,
  DatabaseRecords,
  EffectRunner,
  EndpointProxy,
  Log,
  NodeAgent,
  Placing,
  ShardRecords,
} from '../turn/ports.ts'
import { ENDPOINT_OF, type TurnMemory } from '../turn/turn-memory.ts'

/** How long clients are held at most before the role moves: a move that did not take milliseconds will not come soon. */
const HOLD_MS = 2_000
/** How long replies to requests under way may take: a slow command delays the other commands of its client, not a handover. */
const DRAIN_MS = 500
/** How soon to check again whether a proxy that lost its folder has it back. */
const AGAIN_MS = 10_000

type PlacingPorts = Placing &
  NodeAgent<'findFreePort'> &
  DatabaseRecords<'portsWithin' | 'countPortsWithin' | 'setEndpointPort'> &
  ShardRecords<'portsWithin' | 'countPortsWithin' | 'listOf'> &
  EffectRunner
/** The ports for opening an endpoint and pointing it at its primaries. */
export type PointingPorts = PlacingPorts & EndpointProxy<'putEndpoint'> & Certifying<'current'>
/** The ports for holding its clients while a role moves. */
export type HoldingPorts = EndpointProxy<'holdEndpoint' | 'releaseEndpoint' | 'switchEndpoint'> & EffectRunner

/**
 * Makes the endpoint of a database point at its primaries on record; gives it a port if it has none. Not while
 * a role moves: then it is held, and the handover points it at the new primary. Throws ProxyUnreachable.
 */
export async function keepEndpoint(
  database: Database,
  goal: Goal,
  { groups }: ObservedDatabase,
  ports: PointingPorts & EndpointProxy<'removeEndpoint'> & Log,
  memory: TurnMemory,
): Promise<void> {
  if (!hasEndpoint(database)) return
  if (goal.kind === 'remove') return dropEndpoint(database, ports)
  if (groups.some(({ handover }) => handover !== null && !handover.released)) return
  const primaries = database.groups.map(({ primaryShard }) => primaryShard).join()
  const shown = (await tlsOf(database, ports))?.fingerprint ?? 'none'
  const shards = await ports.shards.listOf(database.uid)
  const all = shards.map(({ id }) => id).join()
  const what = `${ENDPOINT_OF} ${database.uid} at ${primaries} of ${all}, certificate ${shown}`
  if (!memory.isTime(what, AGAIN_MS)) return
  try {
    const report = await putEndpoint(database, shards, ports)
    if (report !== null) reportDoubts(database, report, ports, memory)
  } catch (cause) {
    memory.again(what)
    throw cause
  }
}

async function dropEndpoint(
  { uid }: Database,
  { proxy, effect }: EndpointProxy<'removeEndpoint'> & EffectRunner,
): Promise<void> {
  await effect('remove-endpoint', () => proxy.removeEndpoint({ params: { id: endpointName(uid) } }))
}

/** Idempotent. Does nothing, and answers null, while one of its primaries is not known. */
async function putEndpoint(
  database: Database,
  shards: readonly ShardRecord[],
  ports: PointingPorts,
): Promise<EndpointReport | null> {
  const routes = routesOf(database, shards)
  const [first] = routes
  if (first === undefined || routes.length < database.groups.length) return null
  const port = database.endpointPort ?? (await givePort(database, ports))
  const primaries = database.groups.map(({ primaryShard }) => primaryShard)
  const replicas = shards.filter(({ id }) => !primaries.includes(id)).map(addressOf)
  const tls = await tlsOf(database, ports)
  const body: EndpointSpec = {
    ...{ host: ENDPOINT_HOST, port, upstream: first.upstream, upstreamTls: null },
    tls: tls === null ? null : { cert: tls.cert, key: tls.key },
    // A client that asks Sentinel for the primary connects without TLS, so Sentinel does not serve databases with TLS.
    ...(tls === null && { name: database.name }),
    replicas,
    shards: database.cluster ? routes : null,
  }
  return ports.effect('put-endpoint', () =>
    ports.proxy.putEndpoint({ params: { id: endpointName(database.uid) }, body }),
  )
}

/**
 * The endpoint got redirects of slots that it did not believe: from a script, or to an address that is no shard of the database.
 * Every turn looks where slots are; this only reports it to people.
 */
function reportDoubts({ uid }: Database, { doubted }: EndpointReport, ports: Log, memory: TurnMemory): void {
  if (doubted === undefined) return
  const note = `doubts of ${uid}`
  const before = Number(memory.notes.get(note) ?? 0)
  memory.notes.set(note, String(doubted.count))
  // Fewer than before: this is another proxy process, which counts from 0.
  const more = doubted.count < before ? doubted.count : doubted.count - before
  if (more > 0)
    ports.log.warn(
      { database: uid, count: more, why: doubted.why },
      'redirects of slots to unknown addresses were not followed',
    )
}

/** The certificate that clients are shown now; null without TLS. */
async function tlsOf({ tls }: Database, ports: Certifying<'current'>): Promise<TlsNow['proxy'] | null> {
  return tls ? (await ports.tls.current()).proxy : null
}

/** The addresses that serve the slots, in the order of the slots. */
function routesOf({ groups }: Database, shards: readonly ShardRecord[]) {
  return groups.flatMap(({ slots, primaryShard }) =>
    shards
      .filter(({ id }) => id === primaryShard)
      .map((primary) => ({ ...slots, upstream: addressOf(primary) })),
  )
}

function addressOf({ host, port }: Address): Address {
  return { host, port }
}

/** Endpoints get their ports like shards: one after the other, so that a port is on record before the next is looked for. */
async function givePort({ uid }: Database, ports: PlacingPorts): Promise<number> {
  return ports.inTurn(async () => {
    const { portRange, agent } = ports
    const findFree = async (body: PartOfPorts) => (await agent.findFreePort({ body })).port
    const port = await findPortWithin(portRange, { alsoFree: [], besides: [] }, ports, findFree)
    const range = `${portRange.from} to ${portRange.to}`
    if (port === null) throw new Error(`no port from ${range} is free for an endpoint (FAIRLEAD_PORT_RANGE)`)
    await ports.effect('record-endpoint', () => ports.databases.setEndpointPort(uid, port))
    return port
  })
}

/**
 * Makes the switch shorter: active clients get a connection to the successor before they are held. Answers why the successor accepts no connections, as a
 * sentence: clients would be disconnected. Undefined when it accepts them, or there are no clients.
 */
export async function prepareClients(
  database: Database,
  group: number,
  successor: Address,
  { proxy }: EndpointProxy<'prepareEndpoint'>,
): Promise<string | undefined> {
  if (!isServed(database)) return undefined
  const params = { id: endpointName(database.uid) }
  const body = { upstream: addressOf(successor), ...slotOf(database, group) }
  const { unreachable } = await proxy.prepareEndpoint({ params, body })
  return unreachable ?? undefined
}

/** Clients reach it through an endpoint. */
export function isServed(database: Database): boolean {
  return hasEndpoint(database) && database.endpointPort !== null
}

/** Something is in the way, and no client is held. It says when to try again. */
export interface NotHeld extends Obstacle {
  readonly afterMs: number
  readonly cut: number
}

/** Clients of an endpoint that are held, each after an answered request. */
export interface HeldClients {
  /** How many other clients were closed, because their long requests had delayed handovers for too long. */
  readonly cut: number
  /** Lets them go on with the shard they had. */
  release(): Promise<void>
  /**
   * Takes them to the successor. Answers how long they were held, in milliseconds; null when the proxy is gone, and its clients with it: the
   * next turn points the endpoint when it is back.
   */
  moveToSuccessor(): Promise<number | null>
  /** How clients waited; null before that, and where the proxy does not say. */
  waited(): WaitedClients | null
}

/**
 * Holds the clients of a group before its role moves to `successor`, and waits until all their requests are answered: no request is under
 * way then that the demotion could interrupt. Null when it has no endpoint.
 * If the server dies, the proxy releases them by itself.
 */
export async function holdClients(
  database: Database,
  group: number,
  successor: Address,
  { proxy, effect }: HoldingPorts,
): Promise<HeldClients | NotHeld | null> {
  if (!isServed(database)) return null
  const params = { id: endpointName(database.uid) }
  const only = slotOf(database, group)
  const upstream = addressOf(successor)
  const {
    drained,
    why,
    tries = 0,
    cut = 0,
  } = await effect('hold-endpoint', () =>
    proxy.holdEndpoint({ params, body: { deadlineMs: HOLD_MS, drainMs: DRAIN_MS, ...only } }),
  )
  const release = async () => {
    await effect('release-endpoint', () => proxy.releaseEndpoint({ params, body: only }))
  }
  if (!drained) {
    await release()
    return {
      code: 'clients_busy',
      why: `the endpoint could not hold its clients: ${why}`,
      afterMs: pauseAfter(tries),
      cut,
    }
  }
  let waited: WaitedClients | null = null
  return {
    ...{ cut, release, waited: () => waited },
    async moveToSuccessor() {
      try {
        const { heldMs, clients, requests, longestWaitMs } = await effect('switch-endpoint', () =>
          proxy.switchEndpoint({ params, body: { upstream, ...only } }),
        )
        if (clients !== undefined && requests !== undefined && longestWaitMs !== undefined)
          waited = { clients, requests, longestMs: longestWaitMs }
        return heldMs
      } catch (cause) {
        if (cause instanceof ProxyUnreachable || cause instanceof ApiError) return null
        throw cause
      }
    },
  }
}

/** How an order names the group to the proxy; for a database that is not sharded it holds all clients. */
export function slotOf({ cluster, groups }: Database, number: number): { readonly slot?: number } {
  const group = groups.find((one) => one.number === number)
  return cluster && group !== undefined ? { slot: group.slots.first } : {}
}

/** After an interruption: no client is held any longer, and all are connected to the group's primary. */
export async function restoreEndpoint(
  database: Database,
  group: number,
  primary: number,
  shards: readonly ShardRecord[],
  ports: PointingPorts & EndpointProxy<'releaseEndpoint'>,
): Promise<void> {
  if (!hasEndpoint(database)) return
  const groups = database.groups.map((one) =>
    one.number === group ? { ...one, primaryShard: primary } : one,
  )
  await putEndpoint({ ...database, groups }, shards, ports)
  await ports
    .effect('release-endpoint', () =>
      ports.proxy.releaseEndpoint({
        params: { id: endpointName(database.uid) },
        body: slotOf(database, group),
      }),
    )
    .catch((cause: unknown) => {
      if (!(cause instanceof ApiError)) throw cause // it cannot listen just now: then it holds no client
    })
}
