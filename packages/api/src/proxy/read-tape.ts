import { type Static, Type } from 'typebox'
import { closed } from '../contract/closed.ts'
import { socketOperation } from '../contract/operation.ts'
import { EndpointId, Slot } from './endpoint-id.ts'

/** Length of a bucket of a tape, and of a handover's trace. */
export const BUCKET_MS = 10
/** Number of buckets before the hold, and after its end. */
export const TAPE_LEAD_BUCKETS = 250

const Counts = Type.Array(Type.Integer({ minimum: 0 }), { maxItems: 2_000 })

/** The proxy's counts around a group's last handover, in buckets. All arrays are equally long. */
export const HandoverTape = Type.Object({
  /** From the beginning of the first bucket to the beginning of the hold, in milliseconds. */
  leadMs: Type.Number({ minimum: 0, maximum: BUCKET_MS * (TAPE_LEAD_BUCKETS + 1) }),
  /** Like in the answer to the switch. */
  heldMs: Type.Number({ minimum: 0 }),
  /** Replies to clients. */
  replies: Counts,
  /** Requests that waited for the end of the hold. */
  held: Counts,
  /** Error replies, and closed clients. */
  errors: Counts,
})
export type HandoverTape = Static<typeof HandoverTape>

/** Server → proxy. */
export const readTape = socketOperation({
  method: 'GET',
  path: '/proxy/endpoints/:id/tape',
  summary: 'Read what was counted around the last handover; null: there was none in the last two minutes',
  params: EndpointId,
  query: closed({
    /** The group with this slot, for a sharded database. */
    slot: Type.Optional(Slot),
  }),
  ok: Type.Object({ tape: Type.Union([HandoverTape, Type.Null()]) }),
  errors: ['not_found'],
})
