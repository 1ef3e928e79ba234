import { Type } from 'typebox'
import { Address } from '../agent/shard-report.ts'
import { operation } from '../contract/operation.ts'
import { EndpointId, Slot } from './endpoint-id.ts'

/** Server → proxy. Refuses with `not_found` for an unknown endpoint. */
export const prepareEndpoint = operation({
  method: 'POST',
  path: '/proxy/endpoints/:id/prepare',
  summary: 'Before a hold: open links at the shard that gets the role, if it takes clients; else say why not',
  since: '0.1.0',
  permission: null,
  fenced: true,
  params: EndpointId,
  body: Type.Object({ upstream: Address, slot: Type.Optional(Slot) }, { additionalProperties: false }),
  ok: Type.Object({
    prepared: Type.Integer(),
    unreachable: Type.Union([Type.String(), Type.Null()]),
  }),
  errors: ['not_found'],
})
