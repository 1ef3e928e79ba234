import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { createQueue } from '../process/queue.ts'

/** So many records are decrypted as soon as they come, of all clients of this thread in one round of the event loop. A key update of TLS 1.3 takes 7 µs. */
const AT_ONCE = 128
/** Of one client. */
const AT_ONCE_OF_ONE = 32
/** Of the others, so many follow each other. */
const PIECE = 32
/** How much of a round the others may take. */
const PIECES_MS = 1
const HEADER_BYTES = 5

interface Paced {
  readonly raw: Socket
  readonly stream: Duplex
  /** Bytes of the header of the present record that have come. */
  headBytes: number
  /** Bytes of the present record that are still to come, as far as its header says so. */
  left: number
  /** What was read and not passed on yet. */
  rest: Buffer | null
  hasEnded: boolean
  /** TLS takes more. */
  isWanted: boolean
  isWaiting: boolean
}

const waiting = createQueue<Paced>()
let atOnce = AT_ONCE
/** True: a callback will notice the end of the round. */
let isDue = false

/**
 * What comes from `raw`, for TLS to read: few records in each round of the event loop, and none while the client does not read what is sent to it.
 * TLS of Node decrypts all that a socket holds before anything else is done, except what it reads from such a stream. It takes a third more processor
 * time.
 */
export function paceRecords(raw: Socket): Duplex {
  const stream = new Duplex({
    allowHalfOpen: true,
    read: () => {
      paced.isWanted = true
      goOn(paced)
    },
    write: (bytes: Buffer, _, done) => void raw.write(bytes, done),
    final: (done) => void raw.end(done),
    destroy: (cause, done) => {
      raw.destroy()
      done(cause)
    },
  })
  const paced: Paced = {
    ...{ raw, stream, headBytes: 0, left: 0, rest: null },
    ...{ hasEnded: false, isWanted: false, isWaiting: false },
  }
  raw
    .on('data', (bytes: Buffer) => {
      noticeEnd()
      if (paced.rest === null && !paced.isWaiting && !raw.writableNeedDrain)
        give(paced, bytes, Math.min(atOnce, AT_ONCE_OF_ONE))
      else setAside(paced, paced.rest === null ? bytes : Buffer.concat([paced.rest, bytes]))
      goOn(paced)
    })
    .on('drain', () => goOn(paced))
    .on('end', () => {
      paced.hasEnded = true
      goOn(paced)
    })
    .on('close', () => stream.destroy())
    .pause()
  return stream
}

/** Passes on as many records of `bytes`; what is left stays aside. */
function give(paced: Paced, bytes: Buffer, most: number): void {
  const to = most > 0 ? takeRecords(paced, bytes, most) : 0
  if (to < bytes.length) setAside(paced, bytes.subarray(to))
  if (to > 0) paced.isWanted = paced.stream.push(bytes.subarray(0, to))
}

function setAside(paced: Paced, bytes: Buffer): void {
  paced.rest = bytes
  paced.raw.pause()
}

/** Reads from the client, or lets what is left of it wait for a round, if TLS wants it. */
function goOn(paced: Paced): void {
  const { raw, stream, rest } = paced
  if (stream.destroyed || paced.isWaiting) return
  if (!paced.isWanted || raw.writableNeedDrain) raw.pause()
  else if (rest !== null) {
    paced.isWaiting = true
    waiting.push(paced)
    noticeEnd()
  } else if (paced.hasEnded) {
    paced.isWanted = false
    stream.push(null)
  } else raw.resume()
}

function noticeEnd(): void {
  if (isDue) return
  isDue = true
  setImmediate(endRound)
}

function endRound(): void {
  isDue = false
  atOnce = AT_ONCE
  const endMs = performance.now() + PIECES_MS
  while (performance.now() < endMs) {
    const paced = waiting.shift()
    if (paced === undefined) return
    paced.isWaiting = false
    const { rest, stream } = paced
    paced.rest = null
    if (rest !== null && !stream.destroyed) give(paced, rest, PIECE)
    goOn(paced)
  }
  if (waiting.size > 0) noticeEnd()
}

/** How many of the bytes belong to the next `most` records: only their headers are read. What is no TLS is an error of the first one. */
function takeRecords(paced: Paced, bytes: Buffer, most: number): number {
  let { headBytes, left } = paced
  let at = 0
  let found = 0
  while (at < bytes.length && found < most) {
    if (headBytes < HEADER_BYTES) {
      const byte = bytes[at] ?? 0
      at += 1
      headBytes += 1
      // The last two bytes are the length.
      if (headBytes === HEADER_BYTES - 1) left = byte << 8
      else if (headBytes === HEADER_BYTES) left |= byte
    } else {
      const some = Math.min(left, bytes.length - at)
      at += some
      left -= some
    }
    if (headBytes === HEADER_BYTES && left === 0) {
      headBytes = 0
      found += 1
    }
  }
  paced.headBytes = headBytes
  paced.left = left
  atOnce -= found
  return at
}
