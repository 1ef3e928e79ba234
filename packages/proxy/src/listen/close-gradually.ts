/** A client whose connection is to be closed. */
export interface Closable {
  /** True if no request of it is under way. */
  isIdle(): boolean
  /** Does nothing if it is closed. */
  close(why: string): void
}

/** Clients that reconnect at the same time would delay each other. */
const SPREAD_MS = 5_000
/** After that, a client is closed in the middle of a request, too. */
const PATIENCE_MS = 10_000
const ROUND_MS = 50

/**
 * Closes clients over SPREAD_MS, each between two requests if there is such a moment within PATIENCE_MS.
 * Dispose of it to leave the rest connected.
 */
export function closeGradually(clients: readonly Closable[], why: string): Disposable {
  const waiting = new Set(clients)
  const eachRound = Math.ceil((clients.length * ROUND_MS) / SPREAD_MS)
  const began = performance.now()
  const timer = setInterval(() => {
    const isLate = performance.now() - began > PATIENCE_MS
    let closed = 0
    for (const client of waiting) {
      if (closed === eachRound && !isLate) break
      if (!isLate && !client.isIdle()) continue
      waiting.delete(client)
      client.close(why)
      closed += 1
    }
    if (waiting.size === 0) clearInterval(timer)
  }, ROUND_MS).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
