import type { Connection } from '../connection/connection.ts'
import type { LongGate } from '../connection/long-gate.ts'
import { type Attempts, areAllOverdue, attemptAgain, gotStuck, gotThrough, opened } from './attempts.ts'
import { endPublishBarrier } from './end-publish-barrier.ts'

/** The gate of an upstream, and the attempts to hold its clients that close it. */
export interface LongGateKeeper {
  readonly gate: LongGate
  /** Another attempt begins: after minutes of attempts the gate is closed. */
  attempt(): void
  /** Whether each long request under way has taken longer than one may take. */
  areAllOverdue(): boolean
  /** Something was in the way of the attempt. */
  stuck(): void
  /**
   * Lets waiting requests pass. `moved`: the role has, so earlier attempts do not count any more. `held`: the clients were held, and
   * the role has not moved: without another failure for a minute, they do not count either.
   */
  open(why: 'moved' | 'held' | 'failed'): void
}

/** Attempts come at most 15 s apart: without another the handover was given up. */
const LAPSE_MS = 20_000

/** Creates an open gate for these connections; it remembers attempts between holds. */
export function createLongGate(connections: ReadonlySet<Connection>): LongGateKeeper {
  const gate: LongGate = { isClosed: false }
  let attempts: Attempts | null = null
  let lapse: NodeJS.Timeout | undefined
  const letPass = () => {
    clearTimeout(lapse)
    if (!gate.isClosed) return
    gate.isClosed = false
    for (const connection of connections) endPublishBarrier(connection)
  }
  const stuck = () => {
    attempts = gotStuck(attempts)
  }
  const forget = () => {
    // Clients wait while this is done: where the first attempt succeeded, no connection has delayed one.
    if (attempts !== null && attempts.times > 1) for (const each of connections) each.putOff = null
    attempts = null
  }
  return {
    gate,
    attempt() {
      attempts = attemptAgain(attempts, performance.now())
      if (attempts.closedMs === null) return letPass()
      gate.isClosed = true
      clearTimeout(lapse)
      lapse = setTimeout(() => {
        attempts = opened(attempts)
        letPass()
      }, LAPSE_MS).unref()
    },
    areAllOverdue: () => gate.isClosed && areAllOverdue(attempts, performance.now()),
    stuck,
    open(why) {
      if (why === 'failed') stuck()
      else if (why === 'held') attempts = gotThrough(attempts, performance.now())
      else forget()
      letPass()
    },
  }
}
