import type { Connection } from '../connection/connection.ts'
import type { LongGate } from '../connection/long-gate.ts'
import { type Attempts, areAllOverdue, attemptAgain } from './attempts.ts'
import { endPublishBarrier } from './end-publish-barrier.ts'

/** The gate of an upstream, and the attempts to hold its clients that close it. */
export interface LongGateKeeper {
  readonly gate: LongGate
  /** Another attempt begins: after minutes of attempts the gate is closed. */
  attempt(): void
  /** Whether each long request under way has taken longer than one may take. */
  areAllOverdue(): boolean
  /** Lets waiting requests pass. `gotThrough`: the clients were held, so earlier attempts do not count any more. */
  open(gotThrough: boolean): void
}

/** Attempts come at most 15 s apart: without another the handover was given up. */
const LAPSE_MS = 20_000

/** Creates an open gate for these connections; it remembers attempts between holds. */
export function createLongGate(connections: ReadonlySet<Connection>): LongGateKeeper {
  const gate: LongGate = { isClosed: false }
  let attempts: Attempts | null = null
  let lapse: NodeJS.Timeout | undefined
  const open = (gotThrough: boolean) => {
    if (gotThrough) attempts = null
    clearTimeout(lapse)
    if (!gate.isClosed) return
    gate.isClosed = false
    for (const connection of connections) endPublishBarrier(connection)
  }
  return {
    gate,
    attempt() {
      attempts = attemptAgain(attempts, performance.now())
      if (attempts.closedMs === null) return open(false)
      gate.isClosed = true
      clearTimeout(lapse)
      lapse = setTimeout(open, LAPSE_MS, false).unref()
    },
    areAllOverdue: () => gate.isClosed && areAllOverdue(attempts, performance.now()),
    open,
  }
}
