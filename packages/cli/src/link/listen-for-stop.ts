/** Reasons for the end of a long-running command. */
export type StopReason = 'time' | 'interrupted' | 'terminated'

/** Ends a long-running command. */
export interface Stop extends Disposable {
  readonly signal: AbortSignal
  /** Undefined: not ended. */
  readonly why: () => StopReason | undefined
}

/**
 * Combines signals of this process, a timeout, and the end of its reader. When disposed of, signals have
 * their usual effect again.
 */
export function listenForStop({
  withinMs,
  gone,
}: {
  readonly withinMs?: number | undefined
  readonly gone?: AbortSignal
}): Stop {
  const stop = new AbortController()
  let why: StopReason | undefined
  const end = (reason: StopReason) => () => {
    why ??= reason
    stop.abort(new Error(reason))
  }
  const handlers = [['SIGINT', end('interrupted')] as const, ['SIGTERM', end('terminated')] as const]
  for (const [signal, handler] of handlers) process.on(signal, handler)
  const timer = withinMs === undefined ? undefined : setTimeout(end('time'), withinMs)
  gone?.addEventListener('abort', end('interrupted'), { once: true })
  return {
    signal: stop.signal,
    why: () => why,
    [Symbol.dispose]: () => {
      clearTimeout(timer)
      for (const [signal, handler] of handlers) process.off(signal, handler)
    },
  }
}
