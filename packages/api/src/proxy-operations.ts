import { type Static, Type } from 'typebox'
import { ClientList } from './client-list.ts'
import { EndpointId, Slot } from './endpoint-id.ts'
import { giveUpBlocked } from './give-up-blocked.ts'
import { operation } from './operation.ts'
import { Address } from './shard-report.ts'
import { TakenScripts } from './taken-scripts.ts'

/**
 * The small API of the proxy of a node, which serves the endpoints of its databases. Declarative like the agent's: wanted
 * endpoints are put, and kept on disk. It is spoken over a Unix socket that only its owner can reach; hence no permissions.
 */

/** Slots, both included, and the primary that holds them. Ranges with one upstream belong to one group. */
export const EndpointShard = Type.Object(
  { first: Slot, last: Slot, upstream: Address },
  { additionalProperties: false },
)
export type EndpointShard = Static<typeof EndpointShard>

/** An endpoint that a proxy is to serve. */
export const WantedEndpoint = Type.Object(
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
    /** Certificate chain and key (PEM), for clients that speak TLS; null: plain. Others: shown to who comes; who is there stays. */
    tls: Type.Union([Type.Object({ cert: Type.String(), key: Type.String() }), Type.Null()]),
    /** The authorities (PEM) of the shards' certificates, if shards speak TLS; null: plain. */
    upstreamTls: Type.Union([Type.Object({ ca: Type.String() }), Type.Null()]),
    /** By it the proxy's Sentinel answerer tells clients of the primary that connect to shards themselves. Absent for sharded databases. */
    name: Type.Optional(Type.String({ pattern: '^[!-~]{1,255}$' })),
    /** Told with the name. Only there and at primaries a slot that has moved is followed. They leave connections as they are. */
    replicas: Type.Optional(Type.Array(Address)),
  },
  { additionalProperties: false },
)
export type WantedEndpoint = Static<typeof WantedEndpoint>

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

/** How a hold went; times are milliseconds. */
export const HoldResult = Type.Object({
  /** Everything that was forwarded is answered. False: nothing is held any more, and `why` says what was not. */
  drained: Type.Boolean(),
  /** From the beginning of the hold until then. */
  ms: Type.Number(),
  why: Type.String(),
  /** Connections that wait only for their own clients; they follow when those have read, or sent, what is theirs. */
  late: Type.Integer(),
  /** How often the same client's long request, or reply that did not come, was in the way, in a row; 0 or absent: none was. */
  tries: Type.Optional(Type.Integer()),
  /** Clients that were closed, because these were in the way for too long. */
  cut: Type.Optional(Type.Integer()),
})
export type HoldResult = Static<typeof HoldResult>

/** How many connections went to the new upstream at a switch; times are milliseconds. */
export const SwitchResult = Type.Object({
  /** Connections that went over while clients were held: those that somebody waited for. */
  moved: Type.Integer(),
  /** Those that follow: idle ones, when they are asked something or shortly after; slow ones, when their clients are done. */
  later: Type.Integer(),
  /** Those that had to be closed. */
  closed: Type.Integer(),
  /** How long clients were held, from the hold on. */
  heldMs: Type.Number(),
})
export type SwitchResult = Static<typeof SwitchResult>

export const reportProxy = operation({
  method: 'GET',
  path: '/proxy/report',
  summary: 'What is: the endpoints and how they fare',
  since: '0.1.0',
  permission: null,
  ok: ProxyReport,
  errors: [],
})

export const putEndpoint = operation({
  method: 'PUT',
  path: '/proxy/endpoints/:id',
  summary: 'Want this endpoint. Answers when it is on disk and listens',
  since: '0.1.0',
  permission: null,
  params: EndpointId,
  body: WantedEndpoint,
  ok: EndpointReport,
  errors: ['unavailable'],
})

export const removeEndpoint = operation({
  method: 'DELETE',
  path: '/proxy/endpoints/:id',
  summary: 'Want this endpoint gone, with its connections. Idempotent',
  since: '0.1.0',
  permission: null,
  params: EndpointId,
  ok: Type.Object({ id: Type.String() }),
  errors: [],
})

export const prepareEndpoint = operation({
  method: 'POST',
  path: '/proxy/endpoints/:id/prepare',
  summary: 'Before a hold: open links at the shard that gets the role, if it takes clients; else say why not',
  since: '0.1.0',
  permission: null,
  params: EndpointId,
  body: Type.Object({ upstream: Address, slot: Type.Optional(Slot) }, { additionalProperties: false }),
  ok: Type.Object({
    prepared: Type.Integer(),
    unreachable: Type.Union([Type.String(), Type.Null()]),
  }),
  errors: ['not_found'],
})

export const holdEndpoint = operation({
  method: 'POST',
  path: '/proxy/endpoints/:id/hold',
  summary:
    'Stop forwarding where requests begin, and answer when all replies are in. Idempotent; renews the deadline',
  since: '0.1.0',
  permission: null,
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
    'Scripts (EVAL, SCRIPT LOAD) that clients have given their engines, for one that will have the role: what it has not been told of yet, or all',
  since: '0.1.0',
  permission: null,
  params: EndpointId,
  body: Type.Object({ upstream: Address, all: Type.Boolean() }, { additionalProperties: false }),
  ok: TakenScripts,
  errors: ['not_found'],
})

export const switchEndpoint = operation({
  method: 'POST',
  path: '/proxy/endpoints/:id/switch',
  summary:
    'Move all connections to this upstream and let clients go there. Holds first, if nobody has. On disk soon; the next put waits for it',
  since: '0.1.0',
  permission: null,
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
  summary: 'Who is connected, and behind which connections to shards; who came first, first',
  since: '0.1.0',
  permission: null,
  params: EndpointId,
  query: Type.Object(
    {
      limit: Type.Integer({ minimum: 1, maximum: 10_000 }),
      /** Only who is behind this end of a connection to a shard. */
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
  putEndpoint,
  removeEndpoint,
  prepareEndpoint,
  giveUpBlocked,
  holdEndpoint,
  takeScripts,
  switchEndpoint,
  releaseEndpoint,
  listClients,
}
