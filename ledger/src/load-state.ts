import type { CheckedLoadOptions } from './check-load-options.ts'
import { type CounterTrail, createCounterTrail } from './counter-trail.ts'
import type { Gaps } from './gaps.ts'
import type { Layout } from './layout.ts'
import { createLedgerBook, type LedgerBook } from './ledger-book.ts'
import { createLedgerWrites, type LedgerWrites } from './ledger-writes.ts'
import type { LoadConnection } from './load-connection.ts'
import type { Pace } from './pace.ts'
import { type Place, placeConnections } from './place-connections.ts'

/** What must be found afterwards. */
export interface Ledger {
  /** Of each connection. */
  readonly places: readonly Place[]
  readonly book: LedgerBook
  readonly writes: LedgerWrites
  /** One per connection; only `incr` has them. */
  readonly trails: readonly CounterTrail[]
}

/** What the parts of a running load share. */
export interface LoadState {
  readonly ledger: Ledger
  readonly connections: LoadConnection[]
  readonly errors: Record<string, number>
  readonly lookupFailed: (cause: unknown) => void
  lookupTrouble: string | null
  connects: number
  acked: number
  jumps: number
  /** Null until all are connected. */
  pace: Pace | null
  gaps: Gaps | null
  /** Of each group. */
  gapsOfGroups: readonly Gaps[]
  /** The last tick found no idle connection for what was due: each answer is followed by the next command at once. */
  behind: boolean
}

export function createLoadState(options: CheckedLoadOptions, layout: Layout): LoadState {
  const { connections, kind } = options
  const places = placeConnections(connections, layout)
  const state: LoadState = {
    ledger: {
      places,
      book: createLedgerBook(connections),
      writes: createLedgerWrites({ ...options, tags: places.map(({ tag }) => tag) }),
      trails: kind === 'incr' ? Array.from({ length: connections }, createCounterTrail) : [],
    },
    connections: [],
    errors: {},
    lookupFailed(cause) {
      state.lookupTrouble = cause instanceof Error ? cause.message : String(cause)
      countTrouble(state, 'lookup')
    },
    lookupTrouble: null,
    connects: 0,
    acked: 0,
    jumps: 0,
    pace: null,
    gaps: null,
    gapsOfGroups: [],
    behind: false,
  }
  return state
}

/** One more of a trouble. */
export function countTrouble(state: LoadState, why: string): void {
  state.errors[why] = (state.errors[why] ?? 0) + 1
}
