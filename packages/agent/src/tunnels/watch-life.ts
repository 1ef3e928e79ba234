import { randomUUID } from 'node:crypto'

/** Notices stalls of this process. */
export interface LifeWatch extends Disposable {
  /** Id of the present life: it changes after each stall of the process. */
  readonly life: string
  /** Call before bytes from outside are passed on: notices a stall that has just ended. */
  look(): void
}

/**
 * A server gives up an order to an engine after 2 s, and an irrevocable one is void after 1.5 s
 * (server/src/reconcile/turn/take-over.ts). Older bytes are not passed on as if they were new.
 */
export const STOOD_STILL_MS = 1_500
const BEAT_MS = 250

export interface LifeOptions {
  readonly clock?: () => number
  /** Default STOOD_STILL_MS. */
  readonly afterMs?: number
}

/**
 * Calls `onStall` when this process was stopped, or busy, for longer than `afterMs`; bytes from then have
 * waited at most since the last beat. `clock`: monotonic ms.
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
