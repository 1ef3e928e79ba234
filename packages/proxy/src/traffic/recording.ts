import { BUCKET_MS, TAPE_LEAD_BUCKETS } from '@fairlead/api/of-proxies'

/** A handover is followed for so many buckets, from the first one of its lead on. */
const MOST_BUCKETS = 1_250
/** Makes performance.now, which begins anew in each thread, a time that all threads of a machine share. */
const SINCE_START_MS = sinceStart()

/** The thread may be interrupted between two readings of the clock: the pair counts that took the shortest time. */
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

/** A handover as one thread has counted it. Buckets of all threads of a process begin at the same moments. */
export interface TapePart {
  /** The number of the first bucket since the start of the machine. */
  readonly first: number
  /** The beginning of the hold, in milliseconds since the start of the machine. */
  readonly beganMs: number
  readonly heldMs: number
  readonly replies: readonly number[]
  readonly held: readonly number[]
  readonly errors: readonly number[]
}

/** One handover, while it is being counted and afterwards. 15 KB. */
export interface Recording {
  readonly first: number
  readonly beganMs: number
  heldMs: number
  /** The number of its buckets. */
  length: number
  readonly replies: Uint32Array
  readonly errors: Uint32Array
  /** By how much the number of waiting requests changes in each bucket. */
  readonly heldChanges: Int32Array
  /** The bucket in which each client had to wait first. */
  readonly since: WeakMap<object, number>
}

/** The bucket of a moment, in milliseconds of performance.now. */
export function bucketOf(nowMs: number): number {
  return Math.floor((nowMs + SINCE_START_MS) / BUCKET_MS)
}

/** A hold begins now, in milliseconds of performance.now. */
export function createRecording(nowMs: number): Recording {
  return {
    ...{ first: bucketOf(nowMs) - TAPE_LEAD_BUCKETS, beganMs: nowMs + SINCE_START_MS },
    ...{ heldMs: 0, length: MOST_BUCKETS, heldChanges: new Int32Array(MOST_BUCKETS) },
    ...{
      replies: new Uint32Array(MOST_BUCKETS),
      errors: new Uint32Array(MOST_BUCKETS),
      since: new WeakMap(),
    },
  }
}

/** The hold has ended with a switch: it is followed a little longer. */
export function endRecording(recording: Recording, heldMs: number): void {
  const soFar = bucketOf(performance.now()) - recording.first + 1
  recording.heldMs = heldMs
  recording.length = Math.min(MOST_BUCKETS, soFar + TAPE_LEAD_BUCKETS)
}

/** What lies outside of the recording is dropped, because a typed array does not grow. */
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

/** A client is served again: so many of its requests had waited. */
export function recordServed(recording: Recording, client: object, requests: number): void {
  const { first, heldChanges, since } = recording
  const from = since.get(client)
  if (from === undefined) return
  since.delete(client)
  // They had still waited in the bucket of this moment.
  const until = bucketOf(performance.now()) + 1
  heldChanges[from - first] = (heldChanges[from - first] ?? 0) + requests
  heldChanges[until - first] = (heldChanges[until - first] ?? 0) - requests
}

/** For the server. Buckets that have not begun yet are left out: what they will hold is not known. */
export function partOf(recording: Recording): TapePart {
  const { first, beganMs, heldMs, replies, errors, heldChanges } = recording
  const length = Math.min(recording.length, bucketOf(performance.now()) - first + 1)
  let waiting = 0
  const held = Array.from(heldChanges.subarray(0, length), (by) => {
    waiting += by
    return waiting
  })
  return {
    ...{ first, beganMs, heldMs, held },
    ...{ replies: [...replies.subarray(0, length)], errors: [...errors.subarray(0, length)] },
  }
}
