import type { Queue } from '../remembered/queue.ts'

/**
 * The share of an event loop that an endpoint uses. A loop serves many databases, and looks at all of their sockets once in a round. While a
 * round is short, work is done when it arrives. When the round has become long, only endpoints go on that have used little of it; work for the
 * others is set aside, and done in pieces in the following rounds: one endpoint after the other, however many clients each has. So a quiet
 * endpoint waits for one round, which is short (forwarding/turns.ts). Why: docs/decisions/0044-rounds-are-shared-by-endpoints.md.
 */
export interface Allowance {
  /** The work that was set aside, in order. */
  readonly waiting: Queue<Piece>
  /** Of the round `round`: milliseconds. */
  spentMs: number
  round: number
}

/** Some work for one client. */
export interface Piece {
  readonly act: () => void
  /** Work that it begins continues when this round is over. */
  readonly endsRound: boolean
}

/** So much is set aside of a connection before its socket is not read any more. To stop reading, and go on, costs as much as reading. */
export const MOST_ASIDE_BYTES = 16 * 1024
