import { readlinkSync } from 'node:fs'

/**
 * What each event loop of the proxy is doing, in memory that the heartbeat thread reads while the loop is
 * stuck. Each loop writes its own record, and no other.
 */

/** The kinds of work, in the order of their numbers. */
const works = [
  '',
  'takes a new client',
  'takes requests of',
  'takes requests again of',
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
/**
 * The work that an event loop announces before it begins: one of a fixed list, so that it fits a number in shared
 * memory.
 */
export type Work = (typeof works)[number]

const numbers = new Map(works.map((work, n) => [work, n]))

/** The layout of a record: four numbers, then text. */
const TURNS = 0
const THREAD = 1
const WORK = 2
const TEXT_BYTES = 3
const HEAD_BYTES = 16
const MOST_TEXT_BYTES = 112
const RECORD_BYTES = HEAD_BYTES + MOST_TEXT_BYTES

/** The number of records, one for each loop. */
export function makeBreadcrumbs(loops: number): SharedArrayBuffer {
  return new SharedArrayBuffer(loops * RECORD_BYTES)
}

/** How many event loops write to this memory. */
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

/** The record of this thread; no other thread reads it until the thread has got its number. */
let mine = recordOf(makeBreadcrumbs(1), 0)

/** From now on this thread writes the record number `n`. */
export function leaveBreadcrumbs(breadcrumbs: SharedArrayBuffer, n: number): void {
  mine = recordOf(breadcrumbs, n)
  mine.head[THREAD] = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
}

/** The client that a piece of work is for, in the form of a record: encoded once, and written often. */
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

/** The work has ended. Other work follows, with a record of its own or without. */
export function endPiece(): void {
  mine.head[WORK] = 0
}

/** Updates the record in the middle of a piece of work. */
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

/** What an event loop has written last; `turns` rises with each turn. */
export interface Breadcrumb {
  readonly turns: number
  /** Its number in the kernel; 0: it has not begun. */
  readonly thread: number
  readonly doing: string
}

/** The record of loop number `n`. The loop may be writing meanwhile; then `turns` has changed at the next look. */
export function readBreadcrumb(breadcrumbs: SharedArrayBuffer, n: number): Breadcrumb {
  const { head, text } = recordOf(breadcrumbs, n)
  const turns = Atomics.load(head, TURNS)
  const work = works[head[WORK] ?? 0] ?? ''
  // Copied, because text must be decoded from memory that does not change meanwhile.
  const whom = Buffer.from(text.slice(0, head[TEXT_BYTES])).toString('utf8')
  return { turns, thread: head[THREAD] ?? 0, doing: work === '' ? '' : `${work} ${whom}`.trimEnd() }
}
