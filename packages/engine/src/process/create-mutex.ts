/** Runs `work` in its turn, and returns its result. An aborted signal makes it throw before it begins. */
export type RunExclusive = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>

/** Creates a mutex. Work waits in order, and a failure ends nothing else. */
export function createMutex(): RunExclusive {
  return createSemaphore(1)
}

/** Creates a semaphore for `atOnce` pieces of work. Work waits in order, and a failure ends nothing else. */
export function createSemaphore(atOnce: number): RunExclusive {
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
