import { type Static, Type } from 'typebox'
import { Address } from '../agent/shard-report.ts'
import { closed } from '../contract/closed.ts'
import { socketOperation } from '../contract/operation.ts'
import { EndpointId, Slot } from './endpoint-id.ts'
import { readTape } from './read-tape.ts'
import { reportTraffic } from './traffic.ts'

/**
 * The API of a node's proxy, which serves endpoints. Declarative like the agent's: the caller puts the wanted
 * endpoints, and the proxy keeps them on disk. Its Unix socket is open only to its owner, so it has no
 * permissions.
 */

/** A range of slots, bounds included, and its primary. Ranges with one upstream belong to one group. */
export const EndpointShard = closed({ first: Slot, last: Slot, upstream: Address })
export type EndpointShard = Static<typeof EndpointShard>

const Certificate = Type.Object({ cert: Type.String(), key: Type.String() })

/** A former port of an endpoint, or its former encryption: clients may still connect there. */
export const FormerPlace = closed({
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  tls: Type.Union([Certificate, Type.Null()]),
})
export type FormerPlace = Static<typeof FormerPlace>

/** An endpoint for a proxy to serve. */
export const EndpointSpec = closed({
  /** Address for clients. */
  host: Type.String(),
  /** A change of port or encryption closes the connections that came to neither this nor a former place. */
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  /** More addresses for clients, with the same port. Changes affect no open connection. */
  also: Type.Optional(Type.Array(Type.String())),
  /** The primary. A new one gets all connections, like with `switchEndpoint`. */
  upstream: Address,
  /**
   * All slots of a sharded database, for clients unaware of slots; `upstream` is the first. Null: not
   * sharded.
   */
  shards: Type.Union([Type.Array(EndpointShard, { minItems: 1, maxItems: 16_384 }), Type.Null()]),
  /** Certificate chain and key (PEM) for clients with TLS; null: no TLS. Changes affect new connections. */
  tls: Type.Union([Certificate, Type.Null()]),
  /** Places where clients may still connect. One port may serve with and without TLS. */
  former: Type.Optional(Type.Array(FormerPlace, { maxItems: 16 })),
  /** The authorities (PEM) of the shards' certificates, if shards speak TLS; null: no TLS. */
  upstreamTls: Type.Union([Type.Object({ ca: Type.String() }), Type.Null()]),
  /** Name of the database in the proxy's Sentinel, for clients of shards. Absent for sharded databases. */
  name: Type.Optional(Type.String({ pattern: '^[!-~]{1,255}$' })),
  /** Other names there, for clients that know a former one. */
  formerNames: Type.Optional(Type.Array(Type.String(), { maxItems: 16 })),
  /**
   * Digests of the valid passwords of `default` (SHA-256, hex). A change closes clients that signed in with
   * another one, gradually. Absent: no client is closed.
   */
  passwords: Type.Optional(Type.Array(Type.String(), { maxItems: 32 })),
  /** Reported with the name. Moved slots are followed only to these and primaries. Changes move no link. */
  replicas: Type.Optional(Type.Array(Address)),
})
export type EndpointSpec = Static<typeof EndpointSpec>

/** An address where an endpoint cannot listen, and retries. `port`: absent from older proxies. */
export const MissingAddress = Type.Object({
  host: Type.String(),
  port: Type.Optional(Type.Integer()),
  why: Type.String(),
})
export type MissingAddress = Static<typeof MissingAddress>

/** Use of a former place. */
export const FormerUse = Type.Object({
  port: Type.Integer(),
  tls: Type.Boolean(),
  connections: Type.Integer(),
  /** Since a client last came, or was seen connected; from the start of the place at most. */
  quietMs: Type.Number(),
})
export type FormerUse = Static<typeof FormerUse>

/** State of an endpoint; counters begin with the endpoint. */
export const EndpointReport = Type.Object({
  id: Type.String(),
  host: Type.String(),
  port: Type.Integer(),
  upstream: Address,
  shards: Type.Union([Type.Array(EndpointShard), Type.Null()]),
  /** `held`: nothing is forwarded (to some group) until a switch, release or deadline. `failed`: see why. */
  state: Type.Enum(['serving', 'held', 'failed']),
  why: Type.String(),
  /** Absent: none. */
  missing: Type.Optional(Type.Array(MissingAddress)),
  /** Absent: none. */
  former: Type.Optional(Type.Array(FormerUse)),
  connections: Type.Integer(),
  /** Requests forwarded since the proxy started. */
  commands: Type.Integer(),
  /** Total and last hold of clients, in milliseconds. */
  heldMsTotal: Type.Number(),
  heldMsLast: Type.Number(),
  /** Number of switches to another upstream. */
  repoints: Type.Integer(),
  /** Holds without a switch, because of missing replies or the deadline. */
  failedHolds: Type.Integer(),
  /**
   * Connections to a shard (`host:port`) that lost its role recently: clients must still read its answers.
   */
  behind: Type.Array(Type.Object({ shard: Type.String(), connections: Type.Integer() })),
  errors: Type.Integer(),
  /** The last error in words; empty: none. */
  lastError: Type.String(),
  /** Redirections to other slot owners that were not followed, and the last reason. Absent: not counted. */
  doubted: Type.Optional(Type.Object({ count: Type.Integer(), why: Type.String() })),
})
export type EndpointReport = Static<typeof EndpointReport>

/** Answers clients that ask a Sentinel for the primary. */
export const SentinelReport = Type.Object({
  host: Type.String(),
  port: Type.Integer(),
  /** `failed`: it cannot listen, and retries; see `why`. `off`: disabled. */
  state: Type.Enum(['serving', 'failed', 'off']),
  why: Type.String(),
  connections: Type.Integer(),
  /** Number of known databases. */
  databases: Type.Integer(),
})
export type SentinelReport = Static<typeof SentinelReport>

/** State of the proxy, with its endpoints. */
export const ProxyReport = Type.Object({
  pid: Type.Integer(),
  rssBytes: Type.Integer(),
  endpoints: Type.Array(EndpointReport),
  sentinel: SentinelReport,
})
export type ProxyReport = Static<typeof ProxyReport>

/** Connections that went to the new upstream in a switch; milliseconds. */
export const SwitchResult = Type.Object({
  /** Moved during the hold, because their clients waited for an answer. */
  moved: Type.Integer(),
  /**
   * Moved later: idle ones soon or at their next request, slow ones when their clients have read or sent all.
   */
  later: Type.Integer(),
  /** Closed connections. */
  closed: Type.Integer(),
  /** Length of the hold. */
  heldMs: Type.Number(),
  /** Clients that waited for an answer or first connection. Absent, like the next two, from older proxies. */
  clients: Type.Optional(Type.Integer()),
  /** Waiting requests of these clients at the end. */
  requests: Type.Optional(Type.Integer()),
  /** From the first waiting request to the end of the hold: the longest wait of a client. */
  longestWaitMs: Type.Optional(Type.Number()),
})
export type SwitchResult = Static<typeof SwitchResult>

export const reportProxy = socketOperation({
  method: 'GET',
  path: '/proxy/report',
  summary: 'Report the endpoints and their state',
  query: closed({
    /** Maximum number of endpoints; all serving threads are asked anyway. Older proxies report all. */
    most: Type.Optional(Type.Integer({ minimum: 0 })),
  }),
  ok: ProxyReport,
})

export const putEndpoint = socketOperation({
  method: 'PUT',
  path: '/proxy/endpoints/:id',
  summary: 'Want this endpoint. Answers when it is on disk and listens',
  fenced: true,
  params: EndpointId,
  body: EndpointSpec,
  ok: EndpointReport,
  errors: ['unavailable'],
})

export const removeEndpoint = socketOperation({
  method: 'DELETE',
  path: '/proxy/endpoints/:id',
  summary: 'Want this endpoint gone, with its connections. Idempotent',
  fenced: true,
  params: EndpointId,
  ok: Type.Object({ id: Type.String() }),
})

/**
 * Causes of a failed hold: missing replies of engines, clients in the middle of long requests, or an end of
 * the hold while it waited.
 */
const HoldObstacle = Type.Enum(['replies_missing', 'long_requests', 'hold_ended'])
/** `code` of a failed hold. */
export type HoldObstacle = Static<typeof HoldObstacle>

/** The result of a hold; milliseconds. */
export const HoldResult = Type.Object({
  /**
   * Every forwarded request is answered. False: the hold has ended; `code` is the reason, `why` is for
   * people.
   */
  drained: Type.Boolean(),
  /** From the beginning of the hold. */
  ms: Type.Number(),
  /** Absent if drained, and from older proxies. */
  code: Type.Optional(HoldObstacle),
  why: Type.String(),
  /** Connections that wait for their own clients to read or send the rest; they follow afterwards. */
  late: Type.Integer(),
  /** Consecutive holds that one client's long request or missing reply has prevented; 0 or absent: none. */
  tries: Type.Optional(Type.Integer()),
  /** Clients that were closed after preventing holds for too long. */
  cut: Type.Optional(Type.Integer()),
})
export type HoldResult = Static<typeof HoldResult>

export const holdEndpoint = socketOperation({
  method: 'POST',
  path: '/proxy/endpoints/:id/hold',
  summary:
    'Stop forwarding where requests begin, and answer when all replies are in. Idempotent; renews the deadline',
  fenced: true,
  params: EndpointId,
  body: closed({
    /** Without a switch by then, clients continue at their former upstream. */
    deadlineMs: Type.Integer({ minimum: 1, maximum: 60_000 }),
    /** Time for replies to arrive; default: half of the deadline. */
    drainMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 60_000 })),
    /** Only the group with this slot, for a sharded database. */
    slot: Type.Optional(Slot),
  }),
  ok: HoldResult,
  errors: ['not_found'],
})

/** Scripts of clients, for the engine that gets the role. */
export const TakenScripts = Type.Object({
  /** Clients have flushed their scripts since the last call: the engine must flush before loading these. */
  flushed: Type.Boolean(),
  /** Texts as base64. */
  scripts: Type.Array(Type.String()),
})
export type TakenScripts = Static<typeof TakenScripts>

export const takeScripts = socketOperation({
  method: 'POST',
  path: '/proxy/endpoints/:id/scripts',
  summary:
    'Scripts (EVAL, SCRIPT LOAD) that clients have loaded, to load them into the next primary: only those that it lacks, or all',
  fenced: true,
  params: EndpointId,
  body: closed({ upstream: Address, all: Type.Boolean() }),
  ok: TakenScripts,
  errors: ['not_found'],
})

export const switchEndpoint = socketOperation({
  method: 'POST',
  path: '/proxy/endpoints/:id/switch',
  summary:
    'Move all connections to this upstream and let clients go on there. Holds the clients first, if they are not held. It is written to disk afterwards; the next put waits for that',
  fenced: true,
  params: EndpointId,
  body: closed({
    upstream: Address,
    /** The group with this slot; required for a sharded database. */
    slot: Type.Optional(Slot),
  }),
  ok: SwitchResult,
  errors: ['not_found', 'order_not_applicable'],
})

export const releaseEndpoint = socketOperation({
  method: 'POST',
  path: '/proxy/endpoints/:id/release',
  summary: 'End a hold: clients go on with the upstream they had. Idempotent',
  fenced: true,
  params: EndpointId,
  body: closed({
    /** Only those of the group with this slot. */
    slot: Type.Optional(Slot),
  }),
  ok: EndpointReport,
  errors: ['not_found'],
})

/** Our end of a connection to a shard, as in the shard's CLIENT LIST and slow log, and the shard's end. */
const ClientVia = Type.Object({ address: Type.String(), shard: Type.String() })

/** Clients of an endpoint, and the addresses that shards see instead. */
export const ClientList = Type.Object({
  /** Including those not listed. */
  connections: Type.Integer(),
  clients: Type.Array(
    Type.Object({
      client: Type.String(),
      /** Empty before its first connection; in a sharded database one per group that it has used. */
      via: Type.Array(ClientVia),
      /** Unix milliseconds. */
      connectedAt: Type.Integer(),
      /** The client's name and user, cut to a maximum length. */
      name: Type.String(),
      user: Type.String(),
      held: Type.Boolean(),
    }),
  ),
})
export type ClientList = Static<typeof ClientList>

export const listClients = socketOperation({
  method: 'GET',
  path: '/proxy/endpoints/:id/clients',
  summary: 'List the clients, with their connections to shards; the oldest first',
  params: EndpointId,
  query: closed({
    limit: Type.Integer({ minimum: 1, maximum: 10_000 }),
    /** Only the client with this address towards a shard. */
    via: Type.Optional(Type.String({ maxLength: 100 })),
  }),
  ok: ClientList,
  errors: ['not_found'],
})

/**
 * Server → proxy. Answers with the proxy's own addresses of links to unblock; `not_found` for an unknown
 * endpoint.
 */
const giveUpBlocked = socketOperation({
  method: 'POST',
  path: '/proxy/endpoints/:id/give-up',
  summary:
    'Before a hold: the connections to shards on which only a blocking command is under way, if they are many. What the shard is then made to give up (CLIENT UNBLOCK … ERROR) waits for the hold, and is asked again',
  fenced: true,
  params: EndpointId,
  body: closed({
    /** Only the group with this slot, for a sharded database. */
    slot: Type.Optional(Slot),
  }),
  /** Our ends, as in the shard's CLIENT LIST. */
  ok: Type.Object({ addresses: Type.Array(Type.String()) }),
  errors: ['not_found'],
})

/** Server → proxy. Refuses with `not_found` for an unknown endpoint. */
const prepareEndpoint = socketOperation({
  method: 'POST',
  path: '/proxy/endpoints/:id/prepare',
  summary: 'Before a hold: open links at the shard that gets the role, if it takes clients; else say why not',
  fenced: true,
  params: EndpointId,
  body: closed({ upstream: Address, slot: Type.Optional(Slot) }),
  ok: Type.Object({
    prepared: Type.Integer(),
    unreachable: Type.Union([Type.String(), Type.Null()]),
  }),
  errors: ['not_found'],
})

/** All operations of a proxy, over its Unix socket. */
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
