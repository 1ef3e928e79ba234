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

/** What tabs tell each other. `ask`: a tab has just been opened. */
type Told = { readonly event: ClusterEvent } | { readonly live: Live } | { readonly ask: true }

/** Only pages of a secure context have locks: over plain HTTP to another machine, each tab has a stream of its own. */
const isShared = 'locks' in navigator

/** Between two tries, when the server has been away for minutes. */
const PAUSE_MS = 3_000

/**
 * Follows the events of the cluster with one stream for all tabs of this browser: one tab has it, and tells the others. When that tab is closed, another one goes on
 * after the last event. Tabs where another user is signed in are none of these. `signedOut`: the session has ended. Aborting `signal` ends it.
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
  led.catch(() => undefined) // aborted while it waited
}

/** What is told among the tabs of one user: the one that leads tells how the stream is, at each change and when a tab has just been opened. */
function joinTabs(name: string, note: (event: ClusterEvent) => void, signal: AbortSignal) {
  let isLeader = false
  const channel = new BroadcastChannel(name)
  const tell = (told: Told) => {
    if (isShared && !signal.aborted) channel.postMessage(told)
  }
  channel.onmessage = ({ data }: MessageEvent<Told>) => {
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

/** Throws when the user may not follow events, and when it is aborted. A session that has ended is asked for again: another tab may begin one. */
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
