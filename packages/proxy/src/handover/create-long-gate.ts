import type { Connection } from '../connection/connection.ts'
import type { LongGate } from '../connection/long-gate.ts'
import { type Attempts, areAllOverdue, attemptAgain, gotStuck, gotThrough, opened } from './attempts.ts'
import { endPublishBarrier } from './end-publish-barrier.ts'

/** The gate of an upstream, and the attempts to hold clients that close it. */
export interface LongGateKeeper {
  readonly gate: LongGate
  /** Counts an attempt; after minutes of attempts, closes the gate. */
  attempt(): void
  /** True if each pending long request has exceeded the limit. */
  areAllOverdue(): boolean
  /** Notes that the attempt failed. */
  stuck(): void
  /**
   * Lets waiting requests pass. `moved`: the role has moved, and earlier attempts no longer count. `held`:
   * clients were held without a move; without a failure for a minute, attempts no longer count.
   */
  open(why: 'moved' | 'held' | 'failed'): void
}

/** Attempts are at most 15 s apart: a longer gap means that the handover was abandoned. */
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
    // Clients wait during this loop: if the first attempt succeeded, no connection has delayed one.
    if (attempts !== null && attempts.times > 1) for (const each of connections) each.move.putOff = null
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
