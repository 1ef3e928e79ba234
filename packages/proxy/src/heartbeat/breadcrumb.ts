import { readlinkSync } from 'node:fs'

/**
 * Records of the proxy's event loops in memory that the heartbeat thread reads while a loop is stuck. Each
 * loop writes only its record.
 */

/** Kinds of work, in the order of their numbers. */
const works = [
  '',
  'takes a new client',
  'takes requests of',
  'takes requests again of',
  'lists clients for',
  'takes replies for',
  'takes replies again for',
  'learns the scripts of',
  'splits a request over the groups for',
  'puts replies of the groups together for',
  'makes an engine remember what is known of',
  'carries out the order',
  'answers as a Sentinel',
  'ends the connection of',
] as const
/** Work that an event loop announces: one of a fixed list, so that it fits a number in shared memory. */
export type Work = (typeof works)[number]

const numbers = new Map(works.map((work, n) => [work, n]))

/** Layout of a record: four numbers, then text. */
const TURNS = 0
const THREAD = 1
const WORK = 2
const TEXT_BYTES = 3
const HEAD_BYTES = 16
const MOST_TEXT_BYTES = 112
const RECORD_BYTES = HEAD_BYTES + MOST_TEXT_BYTES

/** Creates one record for each loop. */
export function makeBreadcrumbs(loops: number): SharedArrayBuffer {
  return new SharedArrayBuffer(loops * RECORD_BYTES)
}

/** Returns the number of event loops that write to this memory. */
export function countLoops(breadcrumbs: SharedArrayBuffer): number {
  return breadcrumbs.byteLength / RECORD_BYTES
}

interface Mine {
  readonly head: Int32Array
  readonly text: Uint8Array
}

function recordOf(breadcrumbs: SharedArrayBuffer, n: number): Mine {
  const from = n * RECORD_BYTES
  return {
    head: new Int32Array(breadcrumbs, from, HEAD_BYTES / 4),
    text: new Uint8Array(breadcrumbs, from + HEAD_BYTES, MOST_TEXT_BYTES),
  }
}

/** Record of this thread. No other thread reads it until the thread has its number. */
let mine = recordOf(makeBreadcrumbs(1), 0)

/** Makes this thread write record `n`. */
export function leaveBreadcrumbs(breadcrumbs: SharedArrayBuffer, n: number): void {
  mine = recordOf(breadcrumbs, n)
  mine.head[THREAD] = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
}

/** Encodes the client of a piece of work once, for many writes to a record. */
export function crumbOf(text: string): Uint8Array {
  return Buffer.from(text).subarray(0, MOST_TEXT_BYTES)
}

/** Notes that this loop begins a piece of work, in a new turn. */
export function beginPiece(work: Work, whom: Uint8Array = nobody): void {
  nowDoing(work, whom)
  const { head } = mine
  Atomics.store(head, TURNS, ((head[TURNS] ?? 0) + 1) | 0)
}

const nobody = new Uint8Array(0)

/** Notes the end of a piece of work. */
export function endPiece(): void {
  mine.head[WORK] = 0
}

/** Updates the record within a piece of work. */
export function nowDoing(work: Work, whom?: Uint8Array): void {
  mine.head[WORK] = numbers.get(work) ?? 0
  if (whom === undefined) return
  mine.text.set(whom)
  mine.head[TEXT_BYTES] = whom.length
}

/** Notes the work while `act` runs, until its first `await`. */
export function during<T>(work: Work, whom: Uint8Array, act: () => T): T {
  nowDoing(work, whom)
  try {
    return act()
  } finally {
    endPiece()
  }
}

/** Last record of an event loop; `turns` rises with each turn. */
export interface Breadcrumb {
  readonly turns: number
  /** Thread id in the kernel; 0: not started. */
  readonly thread: number
  readonly doing: string
}

/** Reads the record of loop `n`. If the loop writes at the same time, `turns` differs at the next read. */
export function readBreadcrumb(breadcrumbs: SharedArrayBuffer, n: number): Breadcrumb {
  const { head, text } = recordOf(breadcrumbs, n)
  const turns = Atomics.load(head, TURNS)
  const work = works[head[WORK] ?? 0] ?? ''
  // Copied, because text must be decoded from memory that does not change.
  const whom = Buffer.from(text.slice(0, head[TEXT_BYTES])).toString('utf8')
  return { turns, thread: head[THREAD] ?? 0, doing: work === '' ? '' : `${work} ${whom}`.trimEnd() }
}
