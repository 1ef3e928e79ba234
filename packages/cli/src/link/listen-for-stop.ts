/** Why a command that goes on and on was ended. */
export type StopReason = 'time' | 'interrupted' | 'terminated'

/** What ends a command that goes on and on. */
export interface Stop extends Disposable {
  readonly signal: AbortSignal
  /** Undefined: it has not been ended. */
  readonly why: () => StopReason | undefined
}

/** The signals of this process, the time, and the end of what reads it, as one signal. Disposed of, signals have their usual effect again. */
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
