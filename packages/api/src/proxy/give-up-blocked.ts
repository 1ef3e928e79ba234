import { Type } from 'typebox'
import { operation } from '../contract/operation.ts'
import { EndpointId, Slot } from './endpoint-id.ts'

/**
 * Server → proxy. Answers with the proxy's own addresses of links to unblock; `not_found` for an unknown
 * endpoint.
 */
export const giveUpBlocked = operation({
  method: 'POST',
  path: '/proxy/endpoints/:id/give-up',
  summary:
    'Before a hold: the connections to shards on which only a blocking command is under way, if they are many. What the shard is then made to give up (CLIENT UNBLOCK … ERROR) waits for the hold, and is asked again',
  since: '0.1.0',
  permission: null,
  fenced: true,
  params: EndpointId,
  body: Type.Object(
    {
      /** Only the group with this slot, for a sharded database. */
      slot: Type.Optional(Slot),
    },
    { additionalProperties: false },
  ),
  /** Our ends, as in the shard's CLIENT LIST. */
  ok: Type.Object({ addresses: Type.Array(Type.String()) }),
  errors: ['not_found'],
})
