import { beginPiece, endPiece, type Work } from '../heartbeat/breadcrumb.ts'
import { createQueue } from '../remembered/queue.ts'

/**
 * Long work of one client is done in pieces, and others are served between two of them. Pieces of all clients of a thread come one after
 * the other, so that it does not matter to others how many clients have long work.
 */

/** One takes some milliseconds, and who asks something waits for a turn twice: on the way there, and for the reply. */
const PIECES_AT_ONCE = 1

interface Piece {
  readonly act: () => void
  readonly work: Work
  readonly whom: Uint8Array
}

const waiting = createQueue<Piece>()
let isDue = false

/** Does a piece of `work` in one of the next turns of the event loop; `whom` it is for. */
export function inTurn(work: Work, whom: Uint8Array, act: () => void): void {
  waiting.push({ act, work, whom })
  if (isDue) return
  isDue = true
  setImmediate(doNext)
}

function doNext(): void {
  for (let n = 0; n < PIECES_AT_ONCE; n += 1) {
    const piece = waiting.shift()
    if (piece === undefined) break
    beginPiece(piece.work, piece.whom)
    piece.act()
    endPiece()
  }
  isDue = waiting.size > 0
  if (isDue) setImmediate(doNext)
}

/** What one client may ask, or be told, before others have their turn. What is noted costs more than what is only counted. */
export const REQUESTS_AT_ONCE = 4_096
/** How many replies a turn of one connection may take: the unit of the costs below. */
export const REPLIES_AT_ONCE = 8_192
/** What the reply to a noted request costs, in plain replies. */
export const NOTED_COSTS = 16
/** Of each word that is kept of it. */
export const WORD_COSTS = 4
/** Of so many bytes of an inline request: its words are found byte by byte. */
export const LINE_BYTES = 16
/** Of a reply that is only counted: it is looked at a second time where the replies of several shards are put in order. */
export const REPLY_COSTS = 4

/** As much as Node reads at a time. So many such reads in a row, and others have their turn. */
const FULL_READ_BYTES = 64 * 1024
const MOST_FULL_READS = 4

/** Values of replies, or words of requests: each of them is looked at, however short. A read may have 16,000. */
const LOOKS_AT_ONCE = 4_096

/** Whether a read had so many in it that others are to have their turn. */
export function hasLookedEnough(scanner: { looks: number }): boolean {
  const { looks } = scanner
  scanner.looks = 0
  return looks > LOOKS_AT_ONCE
}

/** Counts reads that leave more to be read. Whether others are to have their turn. */
export function hasReadEnough(side: { fullReads: number }, { length }: Buffer): boolean {
  side.fullReads = length < FULL_READ_BYTES ? 0 : side.fullReads + 1
  if (side.fullReads < MOST_FULL_READS) return false
  side.fullReads = 0
  return true
}
