import { ApiError, type ClusterEvent } from '@fairlead/api'
import { api } from './api.ts'
import { copyLive, denyStream, type Live, loseStream, watchLive } from './live-state.ts'

type Told = { readonly event: ClusterEvent } | { readonly live: Live }

/** Between two tries, when the server has been away for minutes. */
const PAUSE_MS = 3_000

/**
 * Follows the events of the cluster with one stream for all tabs of this browser: one tab has it, and tells the others. When that tab is closed, another one goes on
 * after the last event. `signedOut`: the session has ended. Aborting `signal` ends it.
 */
export function followCluster(
  take: (event: ClusterEvent) => void,
  signedOut: () => void,
  signal: AbortSignal,
): void {
  let last: number | undefined
  const others = new BroadcastChannel('fairlead-events')
  const note = (event: ClusterEvent) => {
    if ('seq' in event && event.seq !== undefined) last = event.seq
    take(event)
  }
  others.onmessage = ({ data }: MessageEvent<Told>) => {
    if ('event' in data) note(data.event)
    else copyLive(data.live)
  }
  signal.addEventListener('abort', () => others.close(), { once: true })
  const lead = async () => {
    const stop = watchLive((live) => others.postMessage({ live }))
    try {
      await followForEver(
        () => last,
        (event) => {
          note(event)
          others.postMessage({ event })
        },
        signal,
      )
    } catch (cause) {
      if (signal.aborted) return
      if (cause instanceof ApiError && cause.status === 403) denyStream()
      else signedOut()
    } finally {
      stop()
    }
  }
  // Only pages of a secure context have locks: over plain HTTP to another machine, each tab has a stream of its own.
  const led = 'locks' in navigator ? navigator.locks.request('fairlead-events', { signal }, lead) : lead()
  led.catch(() => undefined) // aborted while it waited
}

/** Throws what the server refuses for good, and when it is aborted. */
async function followForEver(
  last: () => number | undefined,
  take: (event: ClusterEvent) => void,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    const seq = last()
    try {
      const query = seq === undefined ? {} : { last_event_id: seq }
      for await (const event of api.followEvents({ query }, { signal })) take(event)
    } catch (cause) {
      if (signal.aborted || (cause instanceof ApiError && cause.status < 429)) throw cause
    }
    loseStream()
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    signal.throwIfAborted()
  }
}
