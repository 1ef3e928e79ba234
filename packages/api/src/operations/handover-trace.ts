import { type Static, Type } from 'typebox'
import { operation } from '../contract/operation.ts'
import { ActionUid } from './actions.ts'

const Part = Type.Object({ from: Type.Number(), to: Type.Number() }, { description: 'Milliseconds since t0' })

/** Clients' view of one handover, in short intervals. */
export const HandoverTrace = Type.Object({
  action_uid: Type.String(),
  handover: Type.Integer({ description: 'Its place among the certificates of the action, from 1 on' }),
  group: Type.Union([Type.Integer(), Type.Null()]),
  from: Type.String({ description: 'Shard that was primary' }),
  to: Type.String({ description: 'Shard that is primary now' }),
  t0: Type.String({
    description:
      'When the first bucket begins, by the server’s clock: 2.5 s before clients were held. The last one ends 2.5 s after they were served, or before that if the role moved again',
  }),
  bucket_ms: Type.Integer({ description: 'The length of a bucket' }),
  replies: Type.Array(Type.Integer({ minimum: 0 }), {
    description: 'Of each bucket, replies to requests of clients of the group',
  }),
  held: Type.Array(Type.Integer({ minimum: 0 }), {
    description: 'Of each bucket, requests that waited in it because clients were held',
  }),
  errors: Type.Array(Type.Integer({ minimum: 0 }), {
    description:
      'Of each bucket, replies that were errors, whatever the reason (they count as replies, too), and clients that were closed',
  }),
  marks: Type.Object(
    { hold: Part, pause: Part, equal: Part, promote: Part, release: Part },
    { description: 'When each part of the certificate began and ended' },
  ),
})
export type HandoverTrace = Static<typeof HandoverTrace>

/**
 * GET /v1/actions/:uid/handovers/:n/trace: refuses with `action_not_exist`, `trace_not_exist`, or
 * `trace_not_ready` right after the handover.
 */
export const getHandoverTrace = operation({
  method: 'GET',
  path: '/v1/actions/:uid/handovers/:n/trace',
  summary: 'Show what clients saw of a handover: replies, held requests and errors every 10 ms',
  permission: 'view_status_of_cluster_action',
  params: Type.Object({
    uid: ActionUid,
    n: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'Of which certificate of the action; 1: the first',
    }),
  }),
  ok: HandoverTrace,
  errors: ['action_not_exist', 'trace_not_exist', 'trace_not_ready'],
})
