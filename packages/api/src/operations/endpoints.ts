import { Type } from 'typebox'
import { closed } from '../contract/closed.ts'
import { operation } from '../contract/operation.ts'
import { DatabaseUid } from './databases.ts'

const OfDatabase = Type.Object({ uid: DatabaseUid })

/** In ms, where a request names no other tolerance: the default of the wider API. */
export const DEFAULT_LAG_TOLERANCE_MS = 100

const Extended = closed({
  extend_check: Type.Optional(
    Type.Literal('lag', { description: 'Do the replicas of each group follow its primary, too?' }),
  ),
  availability_lag_tolerance_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 3_600_000,
      description: `With extend_check; default: ${DEFAULT_LAG_TOLERANCE_MS}. Waits so long, 5 s at most, until the replicas have what the primary had at the beginning`,
    }),
  ),
})

/** GET /v1/bdbs/:uid/availability: `available`, or a refusal for its port, the shard there or replicas. */
export const getAvailability = operation({
  method: 'GET',
  path: '/v1/bdbs/:uid/availability',
  summary:
    'Can clients use the database now? Asked as a client would: a connection to its endpoint, and a PING',
  permission: 'view_bdb_info',
  params: OfDatabase,
  query: Extended,
  ok: Type.Object({ available: Type.Literal(true) }),
  errors: [
    'invalid_request',
    'db_not_exist',
    'bdb_unavailable_shard_unreachable',
    'bdb_unavailable_port_unbound',
    'bdb_unavailable',
  ],
})

/** GET /v1/local/bdbs/:uid/endpoint/availability: the same, for load balancers that ask each node. */
export const getLocalAvailability = operation({
  method: 'GET',
  path: '/v1/local/bdbs/:uid/endpoint/availability',
  summary: 'Can clients use the database through the endpoint of this node now?',
  permission: 'view_bdb_info',
  params: OfDatabase,
  query: Extended,
  ok: Type.Object({ available: Type.Literal(true) }),
  errors: [
    'invalid_request',
    'db_not_exist',
    'bdb_unavailable_shard_unreachable',
    'bdb_unavailable_port_unbound',
    'bdb_endpoint_unavailable',
  ],
})

/** State and counters of an endpoint since its process started. */
export const EndpointStats = Type.Object({
  port: Type.Integer(),
  state: Type.Enum(['serving', 'held', 'failed']),
  why: Type.String({
    description:
      'Of `failed`: why it cannot listen. Else when and why the proxy before this one died, if it did',
  }),
  missing_addr: Type.Array(Type.Object({ addr: Type.String(), why: Type.String() }), {
    description: 'Addresses besides 127.0.0.1 where it cannot listen; it tries again',
  }),
  connections: Type.Integer({ description: 'Clients, now' }),
  commands: Type.Integer({ description: 'Requests forwarded' }),
  held_ms_total: Type.Number({ description: 'How long clients were held, altogether' }),
  held_ms_last: Type.Number(),
  repoints: Type.Integer({ description: 'Number of its moves to another shard' }),
  failed_holds: Type.Integer({ description: 'Holds that ended without a move' }),
  errors: Type.Integer(),
  last_error: Type.String(),
  doubted: Type.Integer({
    description:
      'Of a sharded database: redirects of slots that were not followed. Some are usual while roles move',
  }),
  doubted_last: Type.String({
    description: 'Why the last of them was not followed; empty if there was none',
  }),
})

/** GET /v1/bdbs/:uid/endpoint/stats: the proxy's counters; `unavailable` while the proxy does not answer. */
export const getEndpointStats = operation({
  method: 'GET',
  path: '/v1/bdbs/:uid/endpoint/stats',
  summary: 'Ours: the state of the endpoint of a database',
  permission: 'view_endpoint_stats',
  params: OfDatabase,
  ok: EndpointStats,
  errors: ['db_not_exist', 'endpoint_not_exist', 'unavailable'],
})

/** A client of an endpoint, and its connections to shards. */
const EndpointClient = Type.Object({
  client: Type.String({ description: 'Address and port of the client' }),
  via: Type.Array(
    Type.Object({
      address: Type.String({
        description: 'As the shard knows it: `addr` in its CLIENT LIST, the client in its slow log',
      }),
      shard: Type.String({ description: 'Address and port of that shard' }),
    }),
    { description: 'Of a sharded database one for each group that it has asked something' },
  ),
  connected_at: Type.String({ description: 'ISO 8601' }),
  name: Type.String({ description: 'The name that it has set with CLIENT SETNAME; else empty' }),
  user: Type.String({ description: 'The user as which it has signed in' }),
  held: Type.Boolean({ description: 'It waits for a handover' }),
})

/** GET /v1/bdbs/:uid/endpoint/clients: client addresses, with the addresses that the shards see instead. */
export const listEndpointClients = operation({
  method: 'GET',
  path: '/v1/bdbs/:uid/endpoint/clients',
  summary:
    'Ours: list the clients of the endpoint of a database, with their addresses as the shards see them',
  permission: 'view_endpoint_stats',
  params: OfDatabase,
  query: closed({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 1_000 })),
    via: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'Only the client whose `via` has this `address`',
      }),
    ),
  }),
  ok: Type.Object({
    connections: Type.Integer({ description: 'All clients, listed or not' }),
    clients: Type.Array(EndpointClient, { description: 'The oldest connection first' }),
  }),
  errors: ['db_not_exist', 'endpoint_not_exist', 'unavailable'],
})
