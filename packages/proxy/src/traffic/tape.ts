import { TAPE_LEAD_BUCKETS } from '@fairlead/api/of-proxies'
import {
  bucketOf,
  createRecording,
  endRecording,
  partOf,
  type Recording,
  record,
  recordServed,
  type TapePart,
} from './recording.ts'

/** Counts of one group in one thread, in buckets, for examining a handover afterwards. */
export interface Tape {
  /** Replies to clients since the last `note`, and the errors among them. */
  replies: number
  errors: number
  /** Adds these to the bucket of `nowMs` (performance.now). */
  note(nowMs: number): void
  /** Notes that a client was closed by the proxy. */
  noteCut(): void
  /** Notes the begin of a hold. */
  begin(): void
  /** Notes a client with a request that waits. */
  waits(client: object): void
  /** Notes that it is served again, and how many requests had waited. */
  served(client: object, requests: number): void
  /** Notes that the role has moved, and the length of the hold in ms. */
  moved(heldMs: number): void
  /** Notes the end of a hold without a move. */
  letGo(): void
  /** Returns the last handover so far; null if there was none in the last minutes. */
  read(): TapePart | null
}

/** Time for which a handover is kept for the server. */
const KEEP_MS = 120_000

/**
 * Creates an empty tape. It takes 2 KB after the first reply, and a recording for each of at most two
 * handovers of the last two minutes.
 */
export function createTape(): Tape {
  const ring = createRing()
  let current: Recording | null = null
  let done: Recording | null = null
  let forget: NodeJS.Timeout | undefined
  const tape: Tape = {
    replies: 0,
    errors: 0,
    note(nowMs) {
      const { replies, errors } = tape
      if (replies === 0 && errors === 0) return
      tape.replies = 0
      tape.errors = 0
      const bucket = bucketOf(nowMs)
      ring.add(bucket, replies, errors)
      if (current !== null) record(current, bucket, replies, errors)
      if (done !== null) record(done, bucket, replies, errors)
    },
    noteCut() {
      tape.errors += 1
      tape.note(performance.now())
    },
    begin() {
      current = createRecording(performance.now())
      ring.copyTo(current)
    },
    waits(client) {
      if (current !== null && !current.since.has(client))
        current.since.set(client, bucketOf(performance.now()))
    },
    served(client, requests) {
      const recording = current ?? done
      if (recording !== null) recordServed(recording, client, requests)
    },
    moved(heldMs) {
      if (current === null) return
      endRecording(current, heldMs)
      done = current
      current = null
      clearTimeout(forget)
      forget = setTimeout(() => {
        done = null
      }, KEEP_MS).unref()
    },
    letGo() {
      current = null
    },
    read: () => (done === null ? null : partOf(done)),
  }
  return tape
}

/** A power of two, larger than the lead of a handover. */
const BUCKETS = 256

/** The newest buckets: all that is kept while no role moves. Without replies it takes no memory. */
function createRing() {
  let counts: { readonly replies: Uint32Array; readonly errors: Uint32Array } | null = null
  let newest = 0
  /** Clears the buckets without replies. */
  const turnTo = ({ replies, errors }: NonNullable<typeof counts>, bucket: number) => {
    for (let n = Math.max(newest + 1, bucket - BUCKETS + 1); n <= bucket; n += 1) {
      replies[n % BUCKETS] = 0
      errors[n % BUCKETS] = 0
    }
    newest = Math.max(newest, bucket)
  }
  return {
    add(bucket: number, more: number, wrong: number): void {
      counts ??= { replies: new Uint32Array(BUCKETS), errors: new Uint32Array(BUCKETS) }
      const { replies, errors } = counts
      if (bucket !== newest) turnTo(counts, bucket)
      replies[bucket % BUCKETS] = (replies[bucket % BUCKETS] ?? 0) + more
      errors[bucket % BUCKETS] = (errors[bucket % BUCKETS] ?? 0) + wrong
    },
    /** Copies the time before a hold that has just begun. */
    copyTo(recording: Recording): void {
      if (counts === null) return
      const { replies, errors } = counts
      const now = recording.first + TAPE_LEAD_BUCKETS
      turnTo(counts, now)
      for (let n = recording.first; n <= now; n += 1)
        record(recording, n, replies[n % BUCKETS] ?? 0, errors[n % BUCKETS] ?? 0)
    },
  }
}
