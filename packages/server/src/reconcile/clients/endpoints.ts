import { type Address, ApiError, type EndpointReport, type EndpointSpec } from '@fairlead/api'
import { type EffectRunner, passwordsMark } from '@fairlead/engine'
import {
  type FormerAccess,
  stillValid,
  takeExactly,
  validPasswords,
} from '../../core/access/former-access.ts'
import type { WaitedClients } from '../../core/state/action.ts'
import { type Database, hasEndpoint, type ShardRecord } from '../../core/state/database.ts'
import { ENDPOINT_HOST, endpointName } from '../../core/state/endpoint-reach.ts'
import type { Goal } from '../../core/state/goal.ts'
import type { Obstacle } from '../../core/state/obstacle.ts'
import { pauseAfter } from '../../core/state/pause-after.ts'
import type { ObservedDatabase } from '../../core/state/topology.ts'
import { findPortWithin, type PartOfPorts } from '../../fleet/databases/taken-ports.ts'
import { ProxyUnreachable } from '../../nodes/proxy-link.ts'
import type {
  Certifying,
  Clock,
  DatabaseRecords,
  EndpointProxy,
  Log,
  NodeAgent,
  Placing,
  Reaching,
  ShardRecords,
} from '../turn/ports.ts'
import { ENDPOINT_OF, type TurnMemory } from '../turn/turn-memory.ts'

/** Longest hold of clients before the role moves: a move takes milliseconds, or will not come soon. */
const HOLD_MS = 2_000
/** Longest wait for outstanding replies: a slow command delays its own client, not a handover. */
const DRAIN_MS = 500
/** Interval for checking if a proxy that lost its folder has it back. */
const AGAIN_MS = 10_000

type PlacingPorts = Placing &
  NodeAgent<'findFreePort'> &
  DatabaseRecords<'portsWithin' | 'countPortsWithin' | 'setEndpointPort'> &
  ShardRecords<'portsWithin' | 'countPortsWithin' | 'listOf'> &
  EffectRunner
/** Ports for opening an endpoint and pointing it at its primaries. */
export type PointingPorts = PlacingPorts &
  Reaching &
  EndpointProxy<'putEndpoint'> &
  Certifying<'current'> &
  Clock
/** Ports for holding its clients while a role moves. */
export type HoldingPorts = EndpointProxy<'holdEndpoint' | 'releaseEndpoint' | 'switchEndpoint'> & EffectRunner

/**
 * Points the endpoint at the primaries on record, and gives it a port if needed. Not while a role moves: then
 * it is held, and the handover points it at the new primary. Throws ProxyUnreachable.
 */
export async function keepEndpoint(
  database: Database,
  goal: Goal,
  { groups }: ObservedDatabase,
  ports: PointingPorts & EndpointProxy<'removeEndpoint'> & DatabaseRecords<'forgetFormer'> & Log,
  memory: TurnMemory,
): Promise<void> {
  const passwords = validPasswords(database, ports.now())
  const isSettled = takeExactly(
    passwords,
    groups.flatMap((group) => group.shards),
  )
  if (!hasEndpoint(database)) return endFormer(database, [], isSettled, ports)
  if (goal.kind === 'remove') return dropEndpoint(database, ports)
  if (groups.some(({ handover }) => handover !== null && !handover.released)) return
  const primaries = database.groups.map(({ primaryShard }) => primaryShard).join()
  const speaksTls = database.tls || database.former.some((one) => one.kind === 'place' && one.tls)
  const shown = speaksTls ? (await ports.tls.current()).proxy.fingerprint : 'none'
  const shards = await ports.shards.listOf(database.uid)
  const all = shards.map(({ id }) => id).join()
  const valid = stillValid(database.former, [], ports.now())
  const access = passwordsMark([
    database.name,
    `${database.endpointPort}`,
    JSON.stringify(valid),
    ...passwords,
  ])
  const what = `${ENDPOINT_OF} ${database.uid} at ${primaries} of ${all}, certificate ${shown}, access ${access}, ${isSettled}`
  if (!memory.isTime(what, AGAIN_MS)) return
  try {
    const report = await putEndpoint(database, shards, ports, isSettled ? passwords : undefined)
    if (report === null) return
    reportDoubts(database, report, ports, memory)
    reportMissing(database, report, ports, memory)
    await endFormer(database, report.former ?? [], isSettled, ports)
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

/** Forgets former access that is over; the endpoint has ended it, or the next turn lets it do so. */
async function endFormer(
  { uid, former }: Database,
  uses: NonNullable<EndpointReport['former']>,
  isSettled: boolean,
  ports: DatabaseRecords<'forgetFormer'> & EffectRunner & Clock,
): Promise<void> {
  const left = stillValid(former, uses, ports.now())
  const ended = former.filter((one) => !left.includes(one) && (one.kind !== 'password' || isSettled))
  if (ended.length > 0)
    await ports.effect('end-former-access', () => ports.databases.forgetFormer(uid, ended))
}

/**
 * Idempotent. Returns null and does nothing while a primary is unknown. `passwords`: digests, once all shards
 * take these and no others.
 */
async function putEndpoint(
  database: Database,
  shards: readonly ShardRecord[],
  ports: PointingPorts,
  passwords?: readonly string[],
): Promise<EndpointReport | null> {
  const routes = routesOf(database, shards)
  const [first] = routes
  if (first === undefined || routes.length < database.groups.length) return null
  const port = database.endpointPort ?? (await givePort(database, ports))
  const primaries = database.groups.map(({ primaryShard }) => primaryShard)
  const replicas = shards.filter(({ id }) => !primaries.includes(id)).map(addressOf)
  const tls = await tlsOf(database, ports)
  const former = stillValid(database.former, [], ports.now())
  const names = former.flatMap((one) => (one.kind === 'name' ? one.name : []))
  const body: EndpointSpec = {
    host: ENDPOINT_HOST,
    port,
    ...(ports.endpointAddresses.length > 0 && { also: [...ports.endpointAddresses] }),
    upstream: first.upstream,
    upstreamTls: null,
    tls,
    ...(await formerPlaces(former, ports)),
    // Clients of Sentinel connect to the primary without TLS, so Sentinel does not list databases with TLS.
    ...(tls === null && { name: database.name, ...(names.length > 0 && { formerNames: names }) }),
    replicas,
    ...(passwords && { passwords: [...passwords] }),
    shards: database.cluster ? routes : null,
  }
  return ports.effect('put-endpoint', () =>
    ports.proxy.putEndpoint({ params: { id: endpointName(database.uid) }, body }),
  )
}

/**
 * Logs redirects of slots that the endpoint did not follow: from a script, or to an address outside of the
 * database. Each turn checks slots anyway.
 */
function reportDoubts({ uid }: Database, { doubted }: EndpointReport, ports: Log, memory: TurnMemory): void {
  if (doubted === undefined) return
  const note = `doubts of ${uid}`
  const before = Number(memory.notes.get(note) ?? 0)
  memory.notes.set(note, String(doubted.count))
  // A smaller number comes from a new proxy process, which counts from 0.
  const more = doubted.count < before ? doubted.count : doubted.count - before
  if (more > 0)
    ports.log.warn(
      { database: uid, count: more, why: doubted.why },
      'redirects of slots to unknown addresses were not followed',
    )
}

/** Logs addresses where the endpoint cannot listen, once for each difference; the proxy tries again. */
function reportMissing({ uid }: Database, { missing = [] }: EndpointReport, ports: Log, memory: TurnMemory) {
  const note = `missing of ${uid}`
  const now = missing.map(({ host, why }) => `${host}: ${why}`).join('; ')
  if (now !== '' && memory.notes.get(note) !== now)
    ports.log.warn({ database: uid, why: now }, 'an endpoint does not listen at all its addresses')
  memory.notes.set(note, now)
}

/** Returns the certificate that clients get now; null without TLS. */
async function tlsOf({ tls }: Pick<Database, 'tls'>, ports: Certifying<'current'>) {
  if (!tls) return null
  const { cert, key } = (await ports.tls.current()).proxy
  return { cert, key }
}

async function formerPlaces(
  former: readonly FormerAccess[],
  ports: Certifying<'current'>,
): Promise<Pick<EndpointSpec, 'former'>> {
  const places = former.filter((one) => one.kind === 'place')
  if (places.length === 0) return {}
  return {
    former: await Promise.all(
      places.map(async ({ port, tls }) => ({ port, tls: await tlsOf({ tls }, ports) })),
    ),
  }
}

/** Returns the addresses that serve the slots, in the order of the slots. */
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

/** Gives the endpoint a port like a shard: sequentially, so that each port is on record before the next. */
async function givePort({ uid }: Database, ports: PlacingPorts): Promise<number> {
  return ports.runExclusive(async () => {
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
 * Connects active clients to the successor before the hold, which shortens the switch. Returns why the
 * successor accepts no connections, because clients would be disconnected; undefined if it does, or there are
 * no clients.
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

/** True if clients reach the database through an endpoint. */
export function isServed(database: Database): boolean {
  return hasEndpoint(database) && database.endpointPort !== null
}

/** An obstacle before any client is held, with the time until the next try. */
export interface NotHeld extends Obstacle {
  readonly afterMs: number
  readonly cut: number
}

/** Held clients of an endpoint, each after an answered request. */
export interface HeldClients {
  /** Other clients closed because their long requests had delayed handovers for too long. */
  readonly cut: number
  /** Lets clients continue at the old shard. */
  release(): Promise<void>
  /**
   * Moves clients to the successor. Returns the length of the hold in ms; null if the proxy is gone
   * with its clients: the next turn points the endpoint when it is back.
   */
  moveToSuccessor(): Promise<number | null>
  /** Returns how clients waited; null before the move, or if the proxy does not report it. */
  waited(): WaitedClients | null
}

/**
 * Holds a group's clients before its role moves to `successor`, and waits until all requests are answered, so
 * that the demotion interrupts none. Null without an endpoint. If the server dies, the proxy releases the
 * clients.
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
    cut,
    release,
    waited: () => waited,
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

/** Names the group in an order to the proxy; empty (all clients) without sharding. */
export function slotOf({ cluster, groups }: Database, number: number): { readonly slot?: number } {
  const group = groups.find((one) => one.number === number)
  return cluster && group !== undefined ? { slot: group.slots.first } : {}
}

/** Restores the endpoint after an interruption: releases clients and connects all to the group's primary. */
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
