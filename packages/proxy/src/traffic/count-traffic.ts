import { latencyBounds, latencyBucket } from '@fairlead/api/of-proxies'

/** Of a connection to an engine: how many requests were sent, and how many are answered. */
interface LinkCounts {
  readonly sent: number
  readonly answered: number
}

/** Of a client's connection. */
interface Counted {
  readonly owner: { readonly count: Count; readonly tape: { note(nowMs: number): void } }
  readonly timed: Timed
  readonly link: LinkCounts | null
  readonly blocked: boolean
  readonly stash: { readonly length: number }
  readonly begun: { readonly length: number }
}

/** What an endpoint counts in one thread, since it was opened. */
export interface Count {
  commands: number
  bytesIn: number
  bytesOut: number
  /** Of requests that were timed: microseconds altogether, and how many fell into each bucket. */
  latencyUs: number
  readonly latencies: Uint32Array
}

/** The request of a connection that is timed: one at a time, from the arrival of its first bytes, so that a hold counts. */
export interface Timed {
  /** When its bytes came, in milliseconds of performance.now; 0: nothing is timed. */
  sinceMs: number
  /** Its number on `link`; 0: it is not sent yet. */
  at: number
  link: LinkCounts | null
  /** How many requests came with it, itself included. They count with the time of the last of them. */
  requests: number
}

/** Nothing was counted yet. */
export function createCount(): Count {
  return {
    ...{ commands: 0, bytesIn: 0, bytesOut: 0, latencyUs: 0 },
    latencies: new Uint32Array(latencyBounds.length),
  }
}

/** Nothing is timed yet. */
export function createTimed(): Timed {
  return { sinceMs: 0, at: 0, link: null, requests: 0 }
}

/** Bytes of the client have come. */
export function noteArrival({ owner, timed, link }: Counted, bytes: number): void {
  owner.count.bytesIn += bytes
  // What was sent on a link that is lost is not answered there any more.
  if (timed.sinceMs === 0 || (timed.at > 0 && timed.link !== link)) begin(timed)
}

function begin(timed: Timed): void {
  timed.sinceMs = performance.now()
  timed.at = 0
  timed.link = null
}

/** Requests were forwarded: `sent` is how many were sent on this link before. A command that blocks waits for others, and is not timed. */
export function noteForwarded(
  { timed, stash, blocked, begun }: Counted,
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
    // What gets no reply is not timed.
  } else if (stash.length === 0 && begun.length === 0) timed.sinceMs = 0
}

/** Replies have come: `bytes` of them. */
export function noteReplies({ owner, timed }: Counted, link: LinkCounts, bytes: number): void {
  const { count, tape } = owner
  const now = performance.now()
  count.bytesOut += bytes
  tape.note(now)
  if (timed.at === 0 || timed.link !== link || link.answered < timed.at) return
  const microseconds = (now - timed.sinceMs) * 1_000
  const bucket = latencyBucket(microseconds)
  count.latencies[bucket] = (count.latencies[bucket] ?? 0) + timed.requests
  count.latencyUs += microseconds * timed.requests
  timed.sinceMs = 0
  timed.at = 0
  timed.link = null
}
