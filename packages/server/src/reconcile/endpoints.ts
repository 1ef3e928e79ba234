import { type Address, ApiError } from '@fairlead/api'
import type { Database } from '../core/database.ts'
import { endpointName } from '../core/endpoint-name.ts'
import type { Goal } from '../core/goal.ts'
import type { SeenDatabase } from '../core/topology.ts'
import type { Deps } from './deps.ts'
import type { TurnMemory } from './turn-memory.ts'

/** Where clients of every database connect, until there are more nodes. */
const HOST = '127.0.0.1'

/** How long clients are held at most before the role moves: what was to be done in milliseconds will not be done. */
const HOLD_MS = 2_000
/** How long replies may take to come in: a slow command holds up the others of its client, not a handover. */
const DRAIN_MS = 500

/** A database in cluster mode has none: its clients know the shards. */
export function hasEndpoint({ cluster }: Pick<Database, 'cluster'>): boolean {
  return !cluster
}

/**
 * Makes the endpoint of a database point at its primary on record, and gives it a port if it has none. Not while the
 * role moves: then it is held, and who moves the role points it. Throws ProxyUnreachable.
 */
export async function keepEndpoint(
  database: Database,
  goal: Goal,
  { groups }: SeenDatabase,
  deps: Deps,
  memory: TurnMemory,
): Promise<void> {
  const [group] = groups
  if (!hasEndpoint(database) || group === undefined) return
  if (goal.kind === 'remove') return dropEndpoint(database, deps)
  const primary = group.shards.find(({ id }) => id === group.recordedPrimary)
  const moves = group.handover !== null && !group.handover.released
  if (primary === undefined || moves) return
  const { port: at } = primary.address
  const what = `endpoint of ${database.uid} at ${at}`
  if (!memory.isTime(what, AGAIN_MS, deps.now())) return
  try {
    const port = database.endpointPort ?? (await givePort(database, deps))
    await pointEndpoint({ ...database, endpointPort: port }, primary.address, deps)
  } catch (cause) {
    memory.again(what)
    throw cause
  }
}

async function dropEndpoint({ uid }: Database, { proxy, effect }: Deps): Promise<void> {
  await effect('remove-endpoint', () => proxy.removeEndpoint({ params: { id: endpointName(uid) } }))
}

/** How soon somebody looks whether a proxy that lost its home has the endpoint. */
const AGAIN_MS = 10_000

/** Idempotent: an endpoint that points there already is left alone. */
export async function pointEndpoint(
  database: Pick<Database, 'uid' | 'endpointPort'>,
  upstream: Address,
  { proxy, effect }: Deps,
): Promise<void> {
  const { uid, endpointPort: port } = database
  if (port === null) return
  await effect('put-endpoint', () =>
    proxy.putEndpoint({
      params: { id: endpointName(uid) },
      body: { host: HOST, port, upstream, tls: null, upstreamTls: null },
    }),
  )
}

/** Placed like shards: one after the other, so that a port is on record before the next is looked for. */
async function givePort({ uid }: Database, deps: Deps): Promise<number> {
  return deps.inTurn(async () => {
    const { port } = await deps.agent.findFreePort({
      body: { ...deps.portRange, except: [...(await takenPorts(deps))], alsoFree: [] },
    })
    if (port === null)
      throw new Error(
        `no port from ${deps.portRange.from} to ${deps.portRange.to} is free for an endpoint (FAIRLEAD_PORT_RANGE)`,
      )
    await deps.effect('record-endpoint', () => deps.databases.setEndpointPort(uid, port))
    return port
  })
}

/** On record, whether anybody listens there just now or not. */
export async function takenPorts({
  shards,
  databases,
}: Pick<Deps, 'shards' | 'databases'>): Promise<readonly number[]> {
  const endpoints = (await databases.list()).flatMap(({ endpointPort }) => endpointPort ?? [])
  return [...(await shards.list()).map(({ port }) => port), ...endpoints]
}

/** Clients of an endpoint that wait, each behind an answered request. */
export interface HeldClients {
  /** Lets them go on with the shard they had. */
  release(): Promise<void>
  /** Takes them to another shard. How long they were held, in milliseconds. */
  moveTo(upstream: Address): Promise<number>
}

/**
 * Holds the clients of a database before its role moves, and waits until all that they asked is answered: nothing is
 * under way then that the demotion could cut. Null when it has no endpoint; in words what is in the way, and nobody is
 * held. Should we die, the proxy lets them go by itself.
 */
export async function holdClients(
  database: Database,
  { proxy, effect }: Deps,
): Promise<HeldClients | string | null> {
  if (!hasEndpoint(database) || database.endpointPort === null) return null
  const params = { id: endpointName(database.uid) }
  const { drained, why } = await effect('hold-endpoint', () =>
    proxy.holdEndpoint({ params, body: { deadlineMs: HOLD_MS, drainMs: DRAIN_MS } }),
  )
  const release = async () => {
    await effect('release-endpoint', () => proxy.releaseEndpoint({ params }))
  }
  if (!drained) {
    await release()
    return `the endpoint could not hold its clients: ${why}`
  }
  return {
    release,
    async moveTo(upstream) {
      const { heldMs } = await effect('switch-endpoint', () =>
        proxy.switchEndpoint({ params, body: { upstream } }),
      )
      return heldMs
    },
  }
}

/** After an interruption: nobody is held any longer, and clients are where the primary is. */
export async function settleEndpoint(database: Database, primary: Address, deps: Deps): Promise<void> {
  if (!hasEndpoint(database) || database.endpointPort === null) return
  await pointEndpoint(database, primary, deps)
  await deps
    .effect('release-endpoint', () =>
      deps.proxy.releaseEndpoint({ params: { id: endpointName(database.uid) } }),
    )
    .catch((cause: unknown) => {
      if (!(cause instanceof ApiError)) throw cause // it cannot listen just now: then it holds nobody
    })
}
