import type { Queue } from '@fairlead/engine'

/**
 * The share of an event loop that an endpoint uses. A loop serves many databases, and looks at all of their sockets once in a round. While a
 * round is short, work is done when it arrives. When the round has become long, only endpoints go on that have used little of it; work for the
 * others is set aside, and done in pieces in the following rounds: one endpoint after the other, however many clients each has. So a quiet
 * endpoint waits for one round, which is short (forwarding/turns.ts). Why: docs/decisions/0044-rounds-are-shared-by-endpoints.md.
 */
export interface Allowance {
  /** The work that was postponed, in order. */
  readonly waiting: Queue<Piece>
  /** Milliseconds used in the round `round`. */
  spentMs: number
  round: number
}

/** A piece of work for one client. */
export interface Piece {
  readonly act: () => void
  /** True: it is the last piece of its round, because the work that it resumes goes on after the round. */
  readonly endsRound: boolean
}

/** How much of a connection may be postponed before its socket is not read any more. To stop and resume reading costs as much as reading. */
export const MOST_ASIDE_BYTES = 16 * 1024
