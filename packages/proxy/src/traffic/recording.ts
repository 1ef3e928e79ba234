import { BUCKET_MS, TAPE_LEAD_BUCKETS } from '@fairlead/api/of-proxies'

/** Length of a recording, from the first bucket of its lead. */
const MOST_BUCKETS = 1_250
/** Added to performance.now, which starts at 0 in each thread, gives a time shared by all threads. */
const SINCE_START_MS = sinceStart()

/** The thread may be interrupted between two readings of the clock: the fastest pair counts. */
function sinceStart(): number {
  let [shortest, since] = [Number.POSITIVE_INFINITY, 0]
  for (let n = 0; n < 20; n += 1) {
    const before = performance.now()
    const now = Number(process.hrtime.bigint()) / 1e6
    const tookMs = performance.now() - before
    if (tookMs < shortest) [shortest, since] = [tookMs, now - before]
  }
  return since
}

/** A handover as counted by one thread. Buckets of all threads begin at the same times. */
export interface TapePart {
  /** Number of the first bucket since the start of the machine. */
  readonly first: number
  /** Begin of the hold, in ms since the start of the machine. */
  readonly beganMs: number
  readonly heldMs: number
  readonly replies: readonly number[]
  readonly held: readonly number[]
  readonly errors: readonly number[]
}

/** One handover, during and after counting. 15 KB. */
export interface Recording {
  readonly first: number
  readonly beganMs: number
  heldMs: number
  /** Number of its buckets. */
  length: number
  readonly replies: Uint32Array
  readonly errors: Uint32Array
  /** Changes of the number of waiting requests in each bucket. */
  readonly heldChanges: Int32Array
  /** Map from client to the first bucket of its wait. */
  readonly since: WeakMap<object, number>
}

/** Returns the bucket of a time (ms of performance.now). */
export function bucketOf(nowMs: number): number {
  return Math.floor((nowMs + SINCE_START_MS) / BUCKET_MS)
}

/** Creates a recording for a hold that begins now (ms of performance.now). */
export function createRecording(nowMs: number): Recording {
  return {
    first: bucketOf(nowMs) - TAPE_LEAD_BUCKETS,
    beganMs: nowMs + SINCE_START_MS,
    heldMs: 0,
    length: MOST_BUCKETS,
    heldChanges: new Int32Array(MOST_BUCKETS),
    replies: new Uint32Array(MOST_BUCKETS),
    errors: new Uint32Array(MOST_BUCKETS),
    since: new WeakMap(),
  }
}

/** Notes that the hold has ended with a switch: the recording continues a little longer. */
export function endRecording(recording: Recording, heldMs: number): void {
  const soFar = bucketOf(performance.now()) - recording.first + 1
  recording.heldMs = heldMs
  recording.length = Math.min(MOST_BUCKETS, soFar + TAPE_LEAD_BUCKETS)
}

/** Buckets outside of the recording are dropped, because a typed array does not grow. */
export function record(
  { first, replies, errors }: Recording,
  bucket: number,
  more: number,
  wrong: number,
): void {
  const at = bucket - first
  replies[at] = (replies[at] ?? 0) + more
  errors[at] = (errors[at] ?? 0) + wrong
}

/** Notes that a client is served again, and how many requests had waited. */
export function recordServed(recording: Recording, client: object, requests: number): void {
  const { first, heldChanges, since } = recording
  const from = since.get(client)
  if (from === undefined) return
  since.delete(client)
  // They were still waiting in the present bucket.
  const until = bucketOf(performance.now()) + 1
  heldChanges[from - first] = (heldChanges[from - first] ?? 0) + requests
  heldChanges[until - first] = (heldChanges[until - first] ?? 0) - requests
}

/** Returns the recording for the server, without buckets in the future. */
export function partOf(recording: Recording): TapePart {
  const { first, beganMs, heldMs, replies, errors, heldChanges } = recording
  const length = Math.min(recording.length, bucketOf(performance.now()) - first + 1)
  let waiting = 0
  const held = Array.from(heldChanges.subarray(0, length), (by) => {
    waiting += by
    return waiting
  })
  return {
    first,
    beganMs,
    heldMs,
    held,
    replies: [...replies.subarray(0, length)],
    errors: [...errors.subarray(0, length)],
  }
}
