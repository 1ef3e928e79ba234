import { createQueue } from '@fairlead/engine'
import type { Allowance, Piece } from '../connection/allowance.ts'
import { beginPiece, endPiece, type Work } from '../heartbeat/breadcrumb.ts'

/** A round is long after this time, if several endpoints were served recently. */
const ROUND_MS = 2
/** The same for a single endpoint, which postponing slows by a tenth; a new endpoint waits one such round. */
const LONE_ROUND_MS = 8
const LATELY_MS = 1_000
/** An endpoint that has used less of the round continues. */
const QUIET_MS = 0.25
/** Part of a round for postponed work. */
const PIECES_MS = 1
/** Part of that for one endpoint. */
const SLICE_MS = 0.25
/** After this time the work of one client is postponed; a request begun then is examined again later. */
const PIECE_MS = 0.4
/** For few bytes, reading the clock costs as much as the work, which is mostly the kernel's. */
const FEW_BYTES = 512
const FEW_COST_MS = 0.02
/** Shorter rounds are counted together. */
const UNCOUNTED_MS = 0.25

/** Creates the allowance of a new endpoint. */
export function createAllowance(): Allowance {
  return { waiting: createQueue(), spentMs: 0, round: 0 }
}

/** Endpoints with waiting work; the first one is next. */
const busy = createQueue<Allowance>()
let round = 1
let roundMs = 0
/** Time after which the present round is long. */
let longMs = ROUND_MS
/** The endpoint served last; true if several were served since the last round; end of that state. */
let latest: Allowance | undefined
let isShared = false
let sharedUntilMs = 0
/** True if a callback will detect the end of the round. */
let isDue = false
/** Start of the present work; 0: the clock was not read yet. */
let beganMs = 0

/** Called when `bytes` arrive. True: handle them now, then call `endTurn`. False: call `inTurn`. */
export function beginTurn(allowance: Allowance, work: Work, whom: Uint8Array, bytes: number): boolean {
  if (allowance !== latest) {
    isShared = latest !== undefined
    latest = allowance
  }
  if (!isItsTurn(allowance)) {
    // The bytes have been read: that costs time.
    spend(allowance, FEW_COST_MS / 2)
    return false
  }
  beganMs = bytes < FEW_BYTES ? 0 : performance.now()
  beginPiece(work, whom)
  return true
}

function isItsTurn(allowance: Allowance): boolean {
  if (allowance.waiting.size > 0) return false
  return roundMs < longMs || allowance.round !== round || allowance.spentMs < QUIET_MS
}

/** Ends the work that `beginTurn` allowed. */
export function endTurn(allowance: Allowance): void {
  endPiece()
  spend(allowance, beganMs === 0 ? FEW_COST_MS : performance.now() - beganMs)
}

function spend(allowance: Allowance, ms: number): void {
  if (allowance.round !== round) {
    allowance.round = round
    allowance.spentMs = 0
  }
  allowance.spentMs += ms
  roundMs += ms
  if (roundMs > UNCOUNTED_MS) noticeEnd()
}

function noticeEnd(): void {
  if (isDue) return
  isDue = true
  setImmediate(endRound)
}

/**
 * Does a piece of `work` now, or in a later round if it is not the endpoint's turn. For events that thousands
 * of clients may cause at the same time.
 */
export function runInSlice(allowance: Allowance, work: Work, whom: Uint8Array, act: () => void): void {
  if (beginTurn(allowance, work, whom, FEW_BYTES)) {
    act()
    endTurn(allowance)
  } else inTurn(allowance, work, whom, act)
}

/** Does a piece of `work` for client `whom` in a later round, after the endpoint's other waiting work. */
export function inTurn(allowance: Allowance, work: Work, whom: Uint8Array, act: () => void): void {
  add(allowance, { act: asPiece(work, whom, act), endsRound: false })
}

/** Resolves at the endpoint's turn. The asynchronous code after it is the last piece of that round. */
export async function nextTurnOf(allowance: Allowance, work: Work, whom: Uint8Array): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  add(allowance, { act: asPiece(work, whom, resolve), endsRound: true })
  await promise
}

function asPiece(work: Work, whom: Uint8Array, act: () => void): () => void {
  return () => {
    beginPiece(work, whom)
    act()
    endPiece()
  }
}

function add(allowance: Allowance, piece: Piece): void {
  if (allowance.waiting.size === 0) busy.push(allowance)
  allowance.waiting.push(piece)
  noticeEnd()
}

function endRound(): void {
  isDue = false
  round += 1
  roundMs = 0
  const beginMs = performance.now()
  if (isShared) sharedUntilMs = beginMs + LATELY_MS
  isShared = false
  longMs = beginMs < sharedUntilMs ? ROUND_MS : LONE_ROUND_MS
  const endMs = beginMs + PIECES_MS
  for (let nowMs = beginMs; nowMs < endMs; ) {
    const allowance = busy.shift()
    if (allowance === undefined) return
    nowMs = doPieces(allowance, endMs)
    if (allowance.waiting.size > 0) busy.push(allowance)
  }
  noticeEnd()
}

/** Does the work of one endpoint until its time is over. Returns the time. */
function doPieces(allowance: Allowance, endMs: number): number {
  let nowMs = performance.now()
  const untilMs = Math.min(endMs, nowMs + SLICE_MS)
  while (nowMs < untilMs) {
    // It stays first in the queue while it runs, so that work which it postpones comes after it.
    const piece = allowance.waiting.first()
    if (piece === undefined) break
    beganMs = nowMs
    piece.act()
    allowance.waiting.shift()
    if (piece.endsRound) return endMs
    nowMs = performance.now()
  }
  return nowMs
}

/** True if the work for one client has used its time. The check takes 0.1 µs. */
export function isTurnOver(): boolean {
  const nowMs = performance.now()
  if (beganMs === 0) beganMs = nowMs
  return nowMs - beganMs > PIECE_MS
}

/** The clock is read after this much work for a client, in plain requests: a tenth of its turn. */
export const COSTS_OF_A_LOOK = 512
/** Cost of the reply to a noted request, in plain requests. */
export const NOTED_COSTS = 16
/** Cost of each kept word of a request. */
export const WORD_COSTS = 4
/** Bytes of an inline request that cost one: its words are found byte by byte. */
export const LINE_BYTES = 16
/** Cost of a reply that is only counted; the ordering of several shards' replies examines it again. */
export const REPLY_COSTS = 4
