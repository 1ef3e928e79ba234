import { randomUUID } from 'node:crypto'

/** Notices when this process stalled. */
export interface LifeWatch extends Disposable {
  /** The name of the present life: it changes each time the process stalled. */
  readonly life: string
  /** Has to be called before bytes from outside are passed on: notices that the process stalled until just now. */
  look(): void
}

/**
 * An order to an engine is given up by the server that has sent it after 2 s, and one that cannot be taken back is void after 1.5 s
 * (server/src/reconcile/turn/take-over.ts). What waited here for longer than that is not passed on as if it had just come.
 */
export const STOOD_STILL_MS = 1_500
const BEAT_MS = 250

export interface LifeOptions {
  readonly clock?: () => number
  /** Default STOOD_STILL_MS. */
  readonly afterMs?: number
}

/**
 * Notices when this process was stopped, or busy with one thing, for longer than `afterMs`, and calls `onStall` then. What came in the
 * meantime has waited for no longer than the time since the last beat. `clock`: milliseconds that only rise.
 */
export function watchLife(
  onStall: (ms: number) => void,
  { clock = () => performance.now(), afterMs = STOOD_STILL_MS }: LifeOptions = {},
): LifeWatch {
  let life = randomUUID()
  let beat = clock()
  const look = () => {
    const now = clock()
    const stalledMs = now - beat
    if (stalledMs < afterMs) return
    beat = now
    life = randomUUID()
    onStall(stalledMs)
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
