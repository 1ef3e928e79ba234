/** Runs `work` in its turn, and returns its result. An aborted signal makes it throw before it begins. */
export type InTurn = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>

/** Runs at most `atOnce` pieces of work at the same time; the others wait, in order, despite failures. */
export function createTurns(atOnce = 1): InTurn {
  let free = atOnce
  const waiting: (() => void)[] = []
  const leave = (): void => {
    const next = waiting.shift()
    if (next) next()
    else free += 1
  }
  return async (work, signal) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (free > 0) {
      free -= 1
      resolve()
    } else waiting.push(resolve)
    await promise // even if the queue is free: work begins only after its caller has continued
    try {
      signal?.throwIfAborted()
      return await work()
    } finally {
      leave()
    }
  }
}
