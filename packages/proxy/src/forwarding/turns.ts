import { createQueue } from '@fairlead/engine'
import type { Allowance, Piece } from '../connection/allowance.ts'
import { beginPiece, endPiece, type Work } from '../heartbeat/breadcrumb.ts'

/** A round is long after this time, if several endpoints have been served lately. */
const ROUND_MS = 2
/** The same if only one endpoint has been served: postponing work costs a busy endpoint a tenth of its speed, and another one that comes waits for one such round. */
const LONE_ROUND_MS = 8
const LATELY_MS = 1_000
/** An endpoint that has used less of the round goes on. */
const QUIET_MS = 0.25
/** How much of a round postponed work may take. */
const PIECES_MS = 1
/** How much of that one endpoint takes before the next one has its turn. */
const SLICE_MS = 0.25
/** After this time the work of one client is postponed. A request that has begun then is examined once more later. */
const PIECE_MS = 0.4
/** With few bytes, reading the clock costs as much as the work itself, most of which is the kernel's. */
const FEW_BYTES = 512
const FEW_COST_MS = 0.02
/** Rounds that take less than this are counted together. */
const UNCOUNTED_MS = 0.25

/** The allowance of an endpoint for which nothing was done yet. */
export function createAllowance(): Allowance {
  return { waiting: createQueue(), spentMs: 0, round: 0 }
}

/** The endpoints for which work waits: the first one is next. */
const busy = createQueue<Allowance>()
let round = 1
let roundMs = 0
/** The time after which the present round is long. */
let longMs = ROUND_MS
/** The endpoint that was served last; whether several were served since a round was counted; until when that holds. */
let latest: Allowance | undefined
let isShared = false
let sharedUntilMs = 0
/** True: a callback will notice the end of the round. */
let isDue = false
/** When the present work began; 0: the clock was not read yet. */
let beganMs = 0

/** `bytes` have come for an endpoint. True: they are handled now, and `endTurn` is called next. False: they are postponed (`inTurn`). */
export function beginTurn(allowance: Allowance, work: Work, whom: Uint8Array, bytes: number): boolean {
  if (allowance !== latest) {
    isShared = latest !== undefined
    latest = allowance
  }
  if (!isItsTurn(allowance)) {
    // They have been read.
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

/** The work that `beginTurn` has allowed is done. */
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

/** Does a piece of `work` now, or in one of the next rounds if it is not the turn of the endpoint. For events that thousands of clients may cause at one moment. */
export function whenItsTurn(allowance: Allowance, work: Work, whom: Uint8Array, act: () => void): void {
  if (beginTurn(allowance, work, whom, FEW_BYTES)) {
    act()
    endTurn(allowance)
  } else inTurn(allowance, work, whom, act)
}

/** Does a piece of `work` in one of the next rounds, after other work that waits for the same endpoint; `whom`: the client that it is for. */
export function inTurn(allowance: Allowance, work: Work, whom: Uint8Array, act: () => void): void {
  add(allowance, { act: asPiece(work, whom, act), endsRound: false })
}

/** For asynchronous code: resolves when the endpoint has its turn. The code after it is the last piece of that round. */
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

/** Does the work of one endpoint, until its time is over. Returns the time. */
function doPieces(allowance: Allowance, endMs: number): number {
  let nowMs = performance.now()
  const untilMs = Math.min(endMs, nowMs + SLICE_MS)
  while (nowMs < untilMs) {
    // It stays the first one meanwhile, so that work which it postpones itself waits after it.
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

/** Whether the work for one client has used its time, so that others have their turn. The check takes a tenth of a microsecond. */
export function isTurnOver(): boolean {
  const nowMs = performance.now()
  if (beganMs === 0) beganMs = nowMs
  return nowMs - beganMs > PIECE_MS
}

/** The clock is read after this much work for a client, counted in plain requests: a tenth of its turn. */
export const COSTS_OF_A_LOOK = 512
/** The cost of the reply to a noted request, in plain requests. */
export const NOTED_COSTS = 16
/** The cost of each kept word of a request. */
export const WORD_COSTS = 4
/** How many bytes of an inline request cost one: its words are found byte by byte. */
export const LINE_BYTES = 16
/** The cost of a reply that is only counted: it is examined a second time when the replies of several shards are put in order. */
export const REPLY_COSTS = 4
