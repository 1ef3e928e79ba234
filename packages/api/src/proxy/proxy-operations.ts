import { type Static, Type } from 'typebox'
import { Address } from '../agent/shard-report.ts'
import { operation } from '../contract/operation.ts'
import { ClientList } from './client-list.ts'
import { EndpointId, Slot } from './endpoint-id.ts'
import { giveUpBlocked } from './give-up-blocked.ts'
import { HoldResult } from './hold-result.ts'
import { prepareEndpoint } from './prepare-endpoint.ts'
import { readTape } from './read-tape.ts'
import { TakenScripts } from './taken-scripts.ts'
import { reportTraffic } from './traffic.ts'

/**
 * The small API of the proxy of a node, which serves the endpoints of its databases. It is declarative like
 * the agent's: the caller puts the endpoints that it wants, and the proxy keeps them on disk. It uses a Unix
 * socket that only its owner can reach, so it has no permissions.
 */

/** Slots, both included, and the primary that holds them. Ranges with one upstream belong to one group. */
export const EndpointShard = Type.Object(
  { first: Slot, last: Slot, upstream: Address },
  { additionalProperties: false },
)
export type EndpointShard = Static<typeof EndpointShard>

/** An endpoint that a proxy is to serve. */
export const EndpointSpec = Type.Object(
  {
    /** Where clients connect. */
    host: Type.String(),
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    /** The primary. Another one than before: all connections are moved there, as `switchEndpoint` does. */
    upstream: Address,
    /**
     * Of a sharded database all its slots, for clients that know nothing of slots; `upstream` is then the first one's. Null:
     * not sharded.
     */
    shards: Type.Union([Type.Array(EndpointShard, { minItems: 1, maxItems: 16_384 }), Type.Null()]),
    /**
     * Certificate chain and key (PEM), for clients that speak TLS; null: plain. A changed certificate is for
     * new connections; open ones stay.
     */
    tls: Type.Union([Type.Object({ cert: Type.String(), key: Type.String() }), Type.Null()]),
    /** The authorities (PEM) of the shards' certificates, if shards speak TLS; null: plain. */
    upstreamTls: Type.Union([Type.Object({ ca: Type.String() }), Type.Null()]),
    /**
     * The name under which the proxy's Sentinel tells the primary to clients that connect to shards
     * themselves. Absent for sharded databases.
     */
    name: Type.Optional(Type.String({ pattern: '^[!-~]{1,255}$' })),
    /** Told with the name. Only there and at primaries a slot that has moved is followed. They leave connections as they are. */
    replicas: Type.Optional(Type.Array(Address)),
  },
  { additionalProperties: false },
)
export type EndpointSpec = Static<typeof EndpointSpec>

/** How an endpoint fares, as its proxy counts; counters begin with the endpoint. */
export const EndpointReport = Type.Object({
  id: Type.String(),
  host: Type.String(),
  port: Type.Integer(),
  upstream: Address,
  shards: Type.Union([Type.Array(EndpointShard), Type.Null()]),
  /** `held`: nothing, or nothing to some group, is forwarded until a switch, a release, or the deadline. `failed`: it cannot listen; see `why`. */
  state: Type.Enum(['serving', 'held', 'failed']),
  why: Type.String(),
  connections: Type.Integer(),
  /** Requests forwarded since the proxy started. */
  commands: Type.Integer(),
  /** How long clients were held, in milliseconds, altogether and the last time. */
  heldMsTotal: Type.Number(),
  heldMsLast: Type.Number(),
  /** Times the endpoint went to another upstream. */
  repoints: Type.Integer(),
  /** Holds that ended without a switch, because commands were not answered or the deadline came. */
  failedHolds: Type.Integer(),
  /**
   * Connections still at a shard that lost its role not long ago: their clients have yet to read what it answered. Which
   * shard, as `host:port`, and how many.
   */
  behind: Type.Array(Type.Object({ shard: Type.String(), connections: Type.Integer() })),
  errors: Type.Integer(),
  /** The last of them, in words; empty when there was none. */
  lastError: Type.String(),
  /** Replies that said that a slot is elsewhere and were not followed, and why the last was not. Absent: they are not counted. */
  doubted: Type.Optional(Type.Object({ count: Type.Integer(), why: Type.String() })),
})
export type EndpointReport = Static<typeof EndpointReport>

/** The answerer for clients that ask a Sentinel where the primary is. */
export const SentinelReport = Type.Object({
  host: Type.String(),
  port: Type.Integer(),
  /** `failed`: it cannot listen, and goes on trying; see `why`. `off`: it was started without. */
  state: Type.Enum(['serving', 'failed', 'off']),
  why: Type.String(),
  connections: Type.Integer(),
  /** Databases that it tells of. */
  databases: Type.Integer(),
})
export type SentinelReport = Static<typeof SentinelReport>

export const ProxyReport = Type.Object({
  pid: Type.Integer(),
  rssBytes: Type.Integer(),
  endpoints: Type.Array(EndpointReport),
  sentinel: SentinelReport,
})
export type ProxyReport = Static<typeof ProxyReport>

/** How many connections went to the new upstream at a switch; times are milliseconds. */
export const SwitchResult = Type.Object({
  /** Connections that moved while clients were held, because their clients waited for an answer. */
  moved: Type.Integer(),
  /**
   * Connections that move later: idle ones at their next request or shortly after; slow ones when their
   * clients have read or sent all.
   */
  later: Type.Integer(),
  /** Those that had to be closed. */
  closed: Type.Integer(),
  /** How long clients were held, from the hold on. */
  heldMs: Type.Number(),
  /** Clients that waited meanwhile for an answer, or for their first connection. Absent: from a proxy older than this field, and the two below. */
  clients: Type.Optional(Type.Integer()),
  /** Requests of theirs that were waiting when they were served again. */
  requests: Type.Optional(Type.Integer()),
  /** From the first request that had to wait to the end of the hold: no client waited longer. */
  longestWaitMs: Type.Optional(Type.Number()),
})
export type SwitchResult = Static<typeof SwitchResult>

export const reportProxy = operation({
  method: 'GET',
  path: '/proxy/report',
  summary: 'Report the endpoints and their state',
  since: '0.1.0',
  permission: null,
  query: Type.Object(
    {
      /** No more than so many endpoints. Of one, each thread that serves clients is still asked. A proxy that is older than this reports all. */
      most: Type.Optional(Type.Integer({ minimum: 0 })),
    },
    { additionalProperties: false },
  ),
  ok: ProxyReport,
  errors: [],
})

export const putEndpoint = operation({
  method: 'PUT',
  path: '/proxy/endpoints/:id',
  summary: 'Want this endpoint. Answers when it is on disk and listens',
  since: '0.1.0',
  permission: null,
  fenced: true,
  params: EndpointId,
  body: EndpointSpec,
  ok: EndpointReport,
  errors: ['unavailable'],
})

export const removeEndpoint = operation({
  method: 'DELETE',
  path: '/proxy/endpoints/:id',
  summary: 'Want this endpoint gone, with its connections. Idempotent',
  since: '0.1.0',
  permission: null,
  fenced: true,
  params: EndpointId,
  ok: Type.Object({ id: Type.String() }),
  errors: [],
})

export const holdEndpoint = operation({
  method: 'POST',
  path: '/proxy/endpoints/:id/hold',
  summary:
    'Stop forwarding where requests begin, and answer when all replies are in. Idempotent; renews the deadline',
  since: '0.1.0',
  permission: null,
  fenced: true,
  params: EndpointId,
  body: Type.Object(
    {
      /** When no switch has come by then, clients are let go to the upstream they had. */
      deadlineMs: Type.Integer({ minimum: 1, maximum: 60_000 }),
      /** How long replies may take to come in; half of the deadline unless told. */
      drainMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 60_000 })),
      /** Of a sharded database only the group that holds this slot. */
      slot: Type.Optional(Slot),
    },
    { additionalProperties: false },
  ),
  ok: HoldResult,
  errors: ['not_found'],
})

export const takeScripts = operation({
  method: 'POST',
  path: '/proxy/endpoints/:id/scripts',
  summary:
    'Scripts (EVAL, SCRIPT LOAD) that clients have loaded, to load them into the next primary: only those that it lacks, or all',
  since: '0.1.0',
  permission: null,
  fenced: true,
  params: EndpointId,
  body: Type.Object({ upstream: Address, all: Type.Boolean() }, { additionalProperties: false }),
  ok: TakenScripts,
  errors: ['not_found'],
})

export const switchEndpoint = operation({
  method: 'POST',
  path: '/proxy/endpoints/:id/switch',
  summary:
    'Move all connections to this upstream and let clients go on there. Holds the clients first, if they are not held. It is written to disk afterwards; the next put waits for that',
  since: '0.1.0',
  permission: null,
  fenced: true,
  params: EndpointId,
  body: Type.Object(
    {
      upstream: Address,
      /** The group that holds this slot, and no other; of a sharded database it has to be named. */
      slot: Type.Optional(Slot),
    },
    { additionalProperties: false },
  ),
  ok: SwitchResult,
  errors: ['not_found', 'order_not_applicable'],
})

export const releaseEndpoint = operation({
  method: 'POST',
  path: '/proxy/endpoints/:id/release',
  summary: 'End a hold: clients go on with the upstream they had. Idempotent',
  since: '0.1.0',
  permission: null,
  fenced: true,
  params: EndpointId,
  body: Type.Object(
    {
      /** Only those of the group that holds this slot. */
      slot: Type.Optional(Slot),
    },
    { additionalProperties: false },
  ),
  ok: EndpointReport,
  errors: ['not_found'],
})

export const listClients = operation({
  method: 'GET',
  path: '/proxy/endpoints/:id/clients',
  summary: 'List the clients, with their connections to shards; the oldest first',
  since: '0.1.0',
  permission: null,
  params: EndpointId,
  query: Type.Object(
    {
      limit: Type.Integer({ minimum: 1, maximum: 10_000 }),
      /** Only the client that uses this address towards a shard. */
      via: Type.Optional(Type.String({ maxLength: 100 })),
    },
    { additionalProperties: false },
  ),
  ok: ClientList,
  errors: ['not_found'],
})

/** All that a server can ask of a proxy, over its Unix socket. */
export const proxyOperations = {
  reportProxy,
  reportTraffic,
  putEndpoint,
  removeEndpoint,
  prepareEndpoint,
  giveUpBlocked,
  holdEndpoint,
  takeScripts,
  switchEndpoint,
  releaseEndpoint,
  readTape,
  listClients,
}
