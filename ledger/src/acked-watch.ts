/** The count of acknowledged writes, which is reported from time to time. */
export interface AckedWatch {
  /** The count is `acked` at `nowMs`. */
  saw(acked: number, nowMs: number): void
  /** No more counts will come: from now on everything throws `cause`. */
  end(cause: Error): void
  acked(): number
  /** Over the last second before `nowMs`. */
  perSecond(nowMs: number): number
  /**
   * Resolves when the count reaches `count`; throws when that takes longer than `withinMs`, or `signal`
   * aborts.
   */
  until(count: number, withinMs: number, signal?: AbortSignal): Promise<void>
}

interface Seen {
  readonly acked: number
  readonly atMs: number
}

const RATE_OVER_MS = 1_000

export function createAckedWatch(): AckedWatch {
  let lately: Seen[] = [{ acked: 0, atMs: performance.now() }]
  let ended: Error | null = null
  const onChange = new Set<() => void>()

  const latest = (): Seen => {
    if (ended) throw ended
    return lately.at(-1) ?? { acked: 0, atMs: 0 }
  }
  const changed = () => {
    for (const check of onChange) check()
  }

  return {
    saw(acked, atMs) {
      lately.push({ acked, atMs })
      lately = lately.filter((seen) => seen.atMs >= atMs - RATE_OVER_MS)
      changed()
    },
    end(cause) {
      ended = cause
      changed()
    },
    acked: () => latest().acked,
    perSecond(nowMs) {
      const now = latest()
      const first = lately.find((seen) => seen.atMs >= nowMs - RATE_OVER_MS) ?? now
      const seconds = (nowMs - first.atMs) / 1000
      return seconds > 0 ? (now.acked - first.acked) / seconds : 0
    },
    async until(count, withinMs, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const check = () => {
        if (ended) reject(ended)
        else if (latest().acked >= count) resolve()
      }
      const stop = () => reject(signal?.reason)
      const late = setTimeout(
        () =>
          reject(
            new Error(`only ${latest().acked} of ${count} writes were acknowledged within ${withinMs} ms`),
          ),
        withinMs,
      )
      onChange.add(check)
      signal?.addEventListener('abort', stop)
      if (signal?.aborted) stop()
      check()
      try {
        await promise
      } finally {
        clearTimeout(late)
        onChange.delete(check)
        signal?.removeEventListener('abort', stop)
      }
    },
  }
}
