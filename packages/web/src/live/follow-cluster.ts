import { ApiError, type ClusterEvent } from '@fairlead/api'
import { api } from './api.ts'
import {
  beginStream,
  copyLive,
  denyStream,
  type Live,
  loseStream,
  presentLive,
  watchLive,
} from './live-state.ts'
import { isSignedOut } from './query-clients.ts'

/** Messages between tabs. `ask`: a new tab. */
type StreamMessage = { readonly event: ClusterEvent } | { readonly live: Live } | { readonly ask: true }

/** Only secure contexts have locks: over plain HTTP to another machine, each tab has a separate stream. */
const isShared = 'locks' in navigator

/** Pause between attempts during a long outage of the server. */
const PAUSE_MS = 3_000

/**
 * Follows the cluster's events with one stream for all tabs: one tab leads and passes them on. When it
 * closes, another one continues after the last event. Tabs of other users are separate; `signedOut` is called
 * when the session has ended, and `signal` ends following.
 */
export function followCluster(
  userUid: number,
  take: (event: ClusterEvent) => void,
  signedOut: () => void,
  signal: AbortSignal,
): void {
  let last: number | undefined
  const note = (event: ClusterEvent) => {
    if ('seq' in event && event.seq !== undefined) last = event.seq
    take(event)
  }
  const name = `fairlead-events-${userUid}`
  beginStream()
  const others = joinTabs(name, note, signal)
  const lead = async () => {
    const stop = others.lead()
    const taken = (event: ClusterEvent) => {
      note(event)
      others.tell({ event })
    }
    try {
      await followForEver(() => last, taken, signedOut, signal)
    } catch {
      if (!signal.aborted) denyStream()
    } finally {
      stop()
    }
  }
  const led = isShared ? navigator.locks.request(name, { signal }, lead) : lead()
  led.catch(() => undefined) // aborted while waiting
}

/** Connects the tabs of one user: the leader reports the stream's state on each change and to new tabs. */
function joinTabs(name: string, note: (event: ClusterEvent) => void, signal: AbortSignal) {
  let isLeader = false
  const channel = new BroadcastChannel(name)
  const tell = (told: StreamMessage) => {
    if (isShared && !signal.aborted) channel.postMessage(told)
  }
  channel.onmessage = ({ data }: MessageEvent<StreamMessage>) => {
    if ('event' in data) note(data.event)
    else if ('live' in data) copyLive(data.live)
    else if (isLeader) tell({ live: presentLive() })
  }
  signal.addEventListener('abort', () => channel.close(), { once: true })
  tell({ ask: true })
  const lead = () => {
    isLeader = true
    return watchLive((live) => tell({ live }))
  }
  return { tell, lead }
}

/** Throws on abort, and if the user may not follow events. Retries after a session's end: one may begin. */
async function followForEver(
  last: () => number | undefined,
  take: (event: ClusterEvent) => void,
  signedOut: () => void,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    const seq = last()
    try {
      const query = seq === undefined ? {} : { last_event_id: String(seq) }
      for await (const event of api.followEvents({ query }, { signal })) take(event)
    } catch (cause) {
      if (signal.aborted || (cause instanceof ApiError && cause.status === 403)) throw cause
      if (isSignedOut(cause)) signedOut()
    }
    loseStream()
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    signal.throwIfAborted()
  }
}
