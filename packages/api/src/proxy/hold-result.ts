import { type Static, Type } from 'typebox'

/**
 * Why clients could not be held: engines had not replied to all requests; clients were in the middle of long requests; or the
 * hold was ended while it waited.
 */
const HoldObstacle = Type.Enum(['replies_missing', 'long_requests', 'hold_ended'])
/** What `code` of a hold that failed may be. */
export type HoldObstacle = Static<typeof HoldObstacle>

/** How a hold went; times are milliseconds. */
export const HoldResult = Type.Object({
  /**
   * Every forwarded request is answered. False: nothing is held any more, `code` says what was missing, and `why` says it to people.
   */
  drained: Type.Boolean(),
  /** From the beginning of the hold until then. */
  ms: Type.Number(),
  /** Absent when it is drained, and from a proxy older than this field. */
  code: Type.Optional(HoldObstacle),
  why: Type.String(),
  /** Connections that wait only for their own clients; they follow when those have read, or sent, what is theirs. */
  late: Type.Integer(),
  /** How often the same client's long request, or reply that did not come, was in the way, in a row; 0 or absent: none was. */
  tries: Type.Optional(Type.Integer()),
  /** Clients that were closed, because these were in the way for too long. */
  cut: Type.Optional(Type.Integer()),
})
export type HoldResult = Static<typeof HoldResult>
