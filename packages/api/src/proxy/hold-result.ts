import { type Static, Type } from 'typebox'

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
