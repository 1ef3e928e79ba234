import type { Queue } from '@fairlead/engine'

/**
 * The share of an event loop that one endpoint uses. A round looks once at each socket of all databases. In a
 * short round, work is done on arrival; in a long one, the work of endpoints above their allowance is
 * postponed and done in pieces in later rounds, endpoint by endpoint (forwarding/turns.ts,
 * docs/decisions/0044-rounds-are-shared-by-endpoints.md).
 */
export interface Allowance {
  /** Postponed work, in order. */
  readonly waiting: Queue<Piece>
  /** Milliseconds used in the round `round`. */
  spentMs: number
  round: number
}

/** A piece of work for one client. */
export interface Piece {
  readonly act: () => void
  /** True for the last piece of its round: the work that it resumes continues after the round. */
  readonly endsRound: boolean
}

/**
 * Limit of postponed bytes of a connection; above it the socket is paused. Pausing costs as much as reading.
 */
export const MOST_ASIDE_BYTES = 16 * 1024
