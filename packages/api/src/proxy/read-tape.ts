import { type Static, Type } from 'typebox'
import { operation } from '../contract/operation.ts'
import { EndpointId, Slot } from './endpoint-id.ts'

/** The length of a bucket of a tape, and of the trace of a handover. */
export const BUCKET_MS = 10
/** A tape begins so many buckets before clients are held, and ends as many after they are served. */
export const TAPE_LEAD_BUCKETS = 250

const Counts = Type.Array(Type.Integer({ minimum: 0 }), { maxItems: 2_000 })

/** What the proxy has counted before, in and after the last handover of a group, in buckets. All arrays have the same length. */
export const HandoverTape = Type.Object({
  /** From the beginning of the first bucket to the beginning of the hold, in milliseconds. */
  leadMs: Type.Number({ minimum: 0, maximum: BUCKET_MS * (TAPE_LEAD_BUCKETS + 1) }),
  /** As in the answer to the switch. */
  heldMs: Type.Number({ minimum: 0 }),
  /** Replies that clients got. */
  replies: Counts,
  /** Requests that waited for the end of the hold. */
  held: Counts,
  /** Of the replies those that were errors, and clients that were closed. */
  errors: Counts,
})
export type HandoverTape = Static<typeof HandoverTape>

/** Server → proxy. */
export const readTape = operation({
  method: 'GET',
  path: '/proxy/endpoints/:id/tape',
  summary: 'Read what was counted around the last handover; null: there was none in the last two minutes',
  since: '0.1.0',
  permission: null,
  params: EndpointId,
  query: Type.Object(
    {
      /** Of a sharded database, the group that holds it. */
      slot: Type.Optional(Slot),
    },
    { additionalProperties: false },
  ),
  ok: Type.Object({ tape: Type.Union([HandoverTape, Type.Null()]) }),
  errors: ['not_found'],
})
