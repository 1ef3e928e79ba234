import { setTimeout as delay } from 'node:timers/promises'

/** Monotonic time: changes of the machine's clock do not affect it. */
export interface Time {
  /** Returns monotonic ms since some time before this process began its work. */
  readonly elapsed: () => number
  /** Resolves after this many ms. Rejects if the signal is aborted before. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>
}

/** Time of this machine. `elapsed` was 0 when this process began. */
export const realTime: Time = {
  elapsed: () => performance.now(),
  pause: (ms, signal) => delay(ms, undefined, { signal }),
}
