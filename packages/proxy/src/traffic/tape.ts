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

/** What a thread counts of one group, in buckets, so that a handover can be looked at afterwards. */
export interface Tape {
  /** Replies to requests of clients since the last `note`, and those of them that are errors. */
  replies: number
  errors: number
  /** Puts these into the bucket of this moment, in milliseconds of performance.now. */
  note(nowMs: number): void
  /** A client was closed, and not by itself. */
  noteCut(): void
  /** Clients are held from now on. */
  begin(): void
  /** This client has sent something that waits. */
  waits(client: object): void
  /** It is served again: so many of its requests had waited. */
  served(client: object, requests: number): void
  /** The role has moved, and clients were held for so many milliseconds. */
  moved(heldMs: number): void
  /** The hold has ended, and nothing has moved. */
  letGo(): void
  /** The last handover, up to now; null: there was none in the last minutes. */
  read(): TapePart | null
}

/** How long a handover is kept for the server. */
const KEEP_MS = 120_000

/** Nothing is counted yet. It takes 2 KB once there are replies, and a recording for each handover of the last two minutes, two at most. */
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

/** A power of two, and more than the lead of a handover. */
const BUCKETS = 256

/** All that is kept while no role moves: the newest buckets. Without replies it takes nothing. */
function createRing() {
  let counts: { readonly replies: Uint32Array; readonly errors: Uint32Array } | null = null
  let newest = 0
  /** Empties the buckets in which nothing came. */
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
    /** The time before a hold that has just begun. */
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
