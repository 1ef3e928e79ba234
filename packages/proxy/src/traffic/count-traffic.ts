import { latencyBounds, latencyBucket } from '@fairlead/api/of-proxies'

/** Requests sent and answered on a connection to an engine. */
interface LinkCounts {
  readonly sent: number
  readonly answered: number
}

/** The counted parts of a client's connection. */
interface Counted {
  readonly owner: { readonly count: Count; readonly tape: { note(nowMs: number): void } }
  readonly timed: Timed
  readonly link: LinkCounts | null
  readonly input: {
    readonly blocked: boolean
    readonly stash: { readonly length: number }
    readonly begun: { readonly length: number }
  }
}

/** Counters of an endpoint in one thread, since it was opened. */
export interface Count {
  commands: number
  bytesIn: number
  bytesOut: number
  /** Timed requests: sum in microseconds, and number in each bucket. */
  latencyUs: number
  readonly latencies: Uint32Array
}

/** The timed request of a connection: one at a time, from its first bytes, so that a hold counts. */
export interface Timed {
  /** Arrival of its bytes (ms of performance.now); 0: nothing is timed. */
  sinceMs: number
  /** Number on `link`; 0: not sent yet. */
  at: number
  link: LinkCounts | null
  /** Number of requests that arrived together. All count with the time of the last one. */
  requests: number
  /** Time of the last reply or message (ms of performance.now); 0 before. */
  lastMs: number
}

/** Creates counters at zero. */
export function createCount(): Count {
  return {
    commands: 0,
    bytesIn: 0,
    bytesOut: 0,
    latencyUs: 0,
    latencies: new Uint32Array(latencyBounds.length),
  }
}

/** Creates a timer without a request. */
export function createTimed(): Timed {
  return { sinceMs: 0, at: 0, link: null, requests: 0, lastMs: 0 }
}

/** Counts bytes of the client. */
export function noteArrival({ owner, timed, link }: Counted, bytes: number): void {
  owner.count.bytesIn += bytes
  // A request sent on a lost link is never answered there.
  if (timed.sinceMs === 0 || (timed.at > 0 && timed.link !== link)) begin(timed)
}

function begin(timed: Timed): void {
  timed.sinceMs = performance.now()
  timed.at = 0
  timed.link = null
}

/** Called after requests were forwarded. `sent`: the link's count before. Blocking commands are not timed. */
export function noteForwarded(
  { timed, input: { stash, blocked, begun } }: Counted,
  link: LinkCounts,
  sent: number,
): void {
  if (timed.at > 0) return
  if (blocked) timed.sinceMs = 0
  else if (link.sent > sent) {
    if (timed.sinceMs === 0) return
    timed.at = link.sent
    timed.link = link
    timed.requests = link.sent - sent
    // A request without a reply is not timed.
  } else if (stash.length === 0 && begun.length === 0) timed.sinceMs = 0
}

/** Counts replies of `bytes` bytes. */
export function noteReplies({ owner, timed }: Counted, link: LinkCounts, bytes: number): void {
  const { count, tape } = owner
  const now = performance.now()
  count.bytesOut += bytes
  tape.note(now)
  timed.lastMs = now
  if (timed.at === 0 || timed.link !== link || link.answered < timed.at) return
  const microseconds = (now - timed.sinceMs) * 1_000
  const bucket = latencyBucket(microseconds)
  count.latencies[bucket] = (count.latencies[bucket] ?? 0) + timed.requests
  count.latencyUs += microseconds * timed.requests
  timed.sinceMs = 0
  timed.at = 0
  timed.link = null
}
