/**
 * The outcome of a command. Acked: the engine confirmed it. Refused: the engine answered with an error, so
 * the command was certainly not carried out. Unknown: the command was sent, and no answer came.
 */
export type Outcome = 'acked' | 'refused' | 'unknown'

export type OutcomeCounts = Readonly<Record<Outcome, number>>

/** Every outcome of every connection's commands, which are numbered from 0 on each connection. */
export interface LedgerBook {
  /**
   * The number of the connection's next command: the same number after a refusal, a new one after any other
   * outcome.
   */
  nextNumber(connection: number): number
  /** Writes down the outcome of the connection's command `nextNumber`. */
  note(connection: number, outcome: Outcome): void
  /** The numbers of the connection's acknowledged commands, ascending: their writes must exist. */
  ackedNumbers(connection: number): Iterable<number>
  counts(): OutcomeCounts
  countsOf(connection: number): OutcomeCounts
}

/**
 * Opens an empty book. A page is small however long the load: numbers only move on when a command was acked
 * or its outcome is unknown, so everything below the next number was acked, but for the unknown ones, which
 * are listed.
 */
export function createLedgerBook(connections: number): LedgerBook {
  const pages = Array.from({ length: connections }, (): Page => ({ next: 0, unknown: [], refused: 0 }))

  const page = (connection: number): Page => {
    const found = pages[connection]
    if (!found) throw new RangeError(`there is no connection ${connection}`)
    return found
  }

  return {
    nextNumber: (connection) => page(connection).next,
    note(connection, outcome) {
      const entry = page(connection)
      if (outcome === 'refused') {
        entry.refused += 1
        return
      }
      if (outcome === 'unknown') entry.unknown.push(entry.next)
      entry.next += 1
    },
    ackedNumbers: (connection) => ackedNumbers(page(connection)),
    counts: () => pages.map(count).reduce(add, { acked: 0, refused: 0, unknown: 0 }),
    countsOf: (connection) => count(page(connection)),
  }
}

interface Page {
  next: number
  /** Ascending. */
  readonly unknown: number[]
  refused: number
}

function* ackedNumbers({ next, unknown }: Page): Generator<number> {
  let skipped = 0
  for (let number = 0; number < next; number += 1) {
    if (unknown[skipped] === number) skipped += 1
    else yield number
  }
}

function count({ next, unknown, refused }: Page): OutcomeCounts {
  return { acked: next - unknown.length, refused, unknown: unknown.length }
}

function add(a: OutcomeCounts, b: OutcomeCounts): OutcomeCounts {
  return { acked: a.acked + b.acked, refused: a.refused + b.refused, unknown: a.unknown + b.unknown }
}
