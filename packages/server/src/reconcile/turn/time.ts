import { setTimeout as delay } from 'node:timers/promises'

/** Monotonic time: changes of the machine's clock do not affect it. */
export interface Time {
  /** Milliseconds that only rise, from some moment before this process began its work. */
  readonly elapsed: () => number
  /** Resolves after this many milliseconds. Rejects when the signal is aborted before that. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>
}

/** The time of this machine. `elapsed` was 0 when this process began. */
export const realTime: Time = {
  elapsed: () => performance.now(),
  pause: (ms, signal) => delay(ms, undefined, { signal }),
}
