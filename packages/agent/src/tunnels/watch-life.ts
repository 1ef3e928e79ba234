import { randomUUID } from 'node:crypto'

/** Whether this process has gone on all the time. */
export interface LifeWatch extends Disposable {
  /** The name of the present life: another one after each time in which the process stood still. */
  readonly life: string
  /** Call it before what came from outside is passed on: notices that the process stood still until just now. */
  look(): void
}

/**
 * An order to an engine is given up by the server that has sent it after 2 s, and one that cannot be taken back is void after 1.5 s
 * (server/src/reconcile/turn/take-over.ts). What waited here for longer than that is not passed on as if it had just come.
 */
export const STOOD_STILL_MS = 1_500
const BEAT_MS = 250

/**
 * Notices when this process was stopped, or busy with one thing, for longer than 1.5 s, and calls `onStandstill` then. What came in the
 * meantime has waited for no longer than the time since the last beat. `clock`: milliseconds that only rise.
 */
export function watchLife(onStandstill: (ms: number) => void, clock = () => performance.now()): LifeWatch {
  let life = randomUUID()
  let beat = clock()
  const look = () => {
    const now = clock()
    const stoodStillMs = now - beat
    if (stoodStillMs < STOOD_STILL_MS) return
    beat = now
    life = randomUUID()
    onStandstill(stoodStillMs)
  }
  const timer = setInterval(() => {
    look()
    beat = clock()
  }, BEAT_MS)
  timer.unref()
  return {
    get life() {
      return life
    },
    look,
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
