import type { CheckedLoadOptions } from './check-load-options.ts'
import { type CounterTrail, createCounterTrail } from './counter-trail.ts'
import type { Gaps } from './gaps.ts'
import type { Layout } from './layout.ts'
import { createLedgerBook, type LedgerBook } from './ledger-book.ts'
import { createLedgerWrites, type LedgerWrites } from './ledger-writes.ts'
import type { LoadConnection } from './load-connection.ts'
import type { Pace } from './pace.ts'
import { type Place, placeConnections } from './place-connections.ts'

/** The records of a load, from which follows what must be found afterwards. */
export interface Ledger {
  /** The place of each connection. */
  readonly places: readonly Place[]
  readonly book: LedgerBook
  readonly writes: LedgerWrites
  /** The counter of each connection; only `incr` has counters. */
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
  /**
   * The last tick found no idle connection for the commands that were due: now each answer is followed by the
   * next command at once.
   */
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

/** Counts one more failure of this kind. */
export function countTrouble(state: LoadState, why: string): void {
  state.errors[why] = (state.errors[why] ?? 0) + 1
}
