import type { Time } from '../../src/reconcile/turn/time.ts'

/** Time that does not pass while code runs, and then jumps to the next moment for which something waits. */
export interface VirtualTime extends Time {
  /** Lets this many milliseconds pass, as if something took them. */
  spend(ms: number): void
}

interface Wait {
  readonly at: number
  readonly end: () => void
}

/** Starts at 0. Each wait ends in a separate event-loop turn, the earliest first, after all other work. */
export function createVirtualTime(): VirtualTime {
  let now = 0
  let waits: Wait[] = []
  let isDue = false
  const next = () => {
    isDue = false
    const first = waits.reduce<Wait | undefined>(
      (a, b) => (a === undefined || b.at < a.at ? b : a),
      undefined,
    )
    if (first === undefined) return
    waits = waits.filter((wait) => wait !== first)
    now = Math.max(now, first.at)
    first.end()
    goOn()
  }
  const goOn = () => {
    if (isDue || waits.length === 0) return
    isDue = true
    setImmediate(next)
  }
  return {
    elapsed: () => now,
    spend(ms) {
      now += ms
    },
    pause: (ms, signal) =>
      new Promise((resolve, reject) => {
        const wait: Wait = { at: now + ms, end: resolve }
        signal?.addEventListener('abort', () => {
          waits = waits.filter((one) => one !== wait)
          reject(signal.reason)
        })
        waits.push(wait)
        goOn()
      }),
  }
}
