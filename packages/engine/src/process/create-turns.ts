/** Does `work` when its turn comes, and answers what it answers. An aborted signal ends it before it begins, by throwing. */
export type InTurn = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>

/** Lets `atOnce` pieces of work be done at a time; the others wait, in the order in which they came, whether those before them succeed or fail. */
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
