import { Type } from 'typebox'
import { DatabaseUid } from './databases.ts'
import { operation } from './operation.ts'

const OfDatabase = Type.Object({ uid: DatabaseUid })

export const getAvailability = operation({
  method: 'GET',
  path: '/v1/bdbs/:uid/availability',
  summary:
    'Can clients use the database now? Asked as a client would: a connection to its endpoint, and a PING',
  since: '0.1.0',
  permission: 'view_bdb_info',
  params: OfDatabase,
  ok: Type.Object({ available: Type.Literal(true) }),
  errors: ['db_not_exist', 'bdb_unavailable_shard_unreachable', 'bdb_unavailable_port_unbound'],
})

/** How an endpoint fares, since its process started. */
export const EndpointStats = Type.Object({
  port: Type.Integer(),
  state: Type.Enum(['serving', 'held', 'failed']),
  why: Type.String({ description: 'Of `failed`: why it cannot listen' }),
  connections: Type.Integer({ description: 'Clients, now' }),
  commands: Type.Integer({ description: 'Requests forwarded' }),
  held_ms_total: Type.Number({ description: 'How long clients were held, altogether' }),
  held_ms_last: Type.Number(),
  repoints: Type.Integer({ description: 'Times it went to another shard' }),
  failed_holds: Type.Integer({ description: 'Holds that ended without that' }),
  errors: Type.Integer(),
  last_error: Type.String(),
})

export const getEndpointStats = operation({
  method: 'GET',
  path: '/v1/bdbs/:uid/endpoint/stats',
  summary: 'Ours: how the endpoint of a database fares',
  since: '0.1.0',
  permission: 'view_endpoint_stats',
  params: OfDatabase,
  ok: EndpointStats,
  errors: ['db_not_exist', 'endpoint_not_exist', 'unavailable'],
})
