import type { Gap } from './gaps.ts'
import type { Layout } from './layout.ts'
import type { OutcomeCounts } from './ledger-book.ts'
import type { Ledger, LoadState } from './load-state.ts'

/** What a load did, until it was stopped. */
export interface LedgerReport extends OutcomeCounts {
  /**
   * How often each kind of failure happened: READONLY, MOVED, CLUSTERDOWN, closed, ECONNREFUSED, no-answer,
   * lookup, … `hint` is no error of an engine: the API was away or behind for 250 ms, and a client followed a
   * MOVED.
   */
  readonly errors: Readonly<Record<string, number>>
  /** The error of the last lookup that failed; null if none failed. */
  readonly lookupTrouble: string | null
  readonly reconnects: number
  /**
   * Every time of 3 ms or more without any acknowledged write. At a pace below 1,000 a second, these are the
   * usual pauses between writes.
   */
  readonly gaps: readonly Gap[]
  /** From the first command until the stop was asked for. */
  readonly seconds: number
  /** `incr`: answers that jumped or repeated themselves. */
  readonly jumps: number
  /** The same of each group, in the order of their slots; a database that is not sharded has one. */
  readonly groups: readonly GroupReport[]
}

export interface GroupReport extends OutcomeCounts {
  /** Its slots when the load began, as the API writes them. */
  readonly slots: string
  readonly gaps: readonly Gap[]
}

export function reportLoad(state: LoadState, { groups }: Layout, seconds: number): LedgerReport {
  return {
    ...state.ledger.book.counts(),
    errors: { ...state.errors },
    lookupTrouble: state.lookupTrouble,
    reconnects: state.connects - state.connections.length,
    gaps: state.gaps?.list() ?? [],
    seconds,
    jumps: state.jumps,
    groups: groups.map((slots, group) => ({
      slots,
      ...countsOfGroup(state.ledger, group),
      gaps: state.gapsOfGroups[group]?.list() ?? [],
    })),
  }
}

function countsOfGroup({ book, places }: Ledger, group: number): OutcomeCounts {
  const counts = { acked: 0, refused: 0, unknown: 0 }
  places.forEach((place, connection) => {
    if (place.group !== group) return
    const { acked, refused, unknown } = book.countsOf(connection)
    counts.acked += acked
    counts.refused += refused
    counts.unknown += unknown
  })
  return counts
}
