import type { Allowance, Piece } from '../connection/allowance.ts'
import { beginPiece, endPiece, type Work } from '../heartbeat/breadcrumb.ts'
import { createQueue } from '../remembered/queue.ts'

/** A round is long from then on, where several endpoints have been served lately. */
const ROUND_MS = 2
/** And where one alone has: to set work aside costs a busy endpoint a tenth of its speed, and another one that comes waits for one such round. */
const LONE_ROUND_MS = 8
const LATELY_MS = 1_000
/** An endpoint that has had less of it goes on. */
const QUIET_MS = 0.25
/** Work that was set aside may take so much of a round. */
const PIECES_MS = 1
/** One endpoint takes so much of that before the next one has its turn. */
const SLICE_MS = 0.25
/** One client's work takes so much: then it is set aside. What was begun by then is looked at once more on its way. */
const PIECE_MS = 0.4
/** With few bytes, reading the clock costs as much as the work itself, most of which is the kernel's. */
const FEW_BYTES = 512
const FEW_COST_MS = 0.02
/** Rounds that take less are counted together. */
const UNCOUNTED_MS = 0.25

/** Of an endpoint for which nothing was done yet. */
export function createAllowance(): Allowance {
  return { waiting: createQueue(), spentMs: 0, round: 0 }
}

/** Those for which something waits: the first one is next. */
const busy = createQueue<Allowance>()
let round = 1
let roundMs = 0
/** From when on a round is long. */
let longMs = ROUND_MS
/** The endpoint that was served last; whether it was another one at any time since a round was counted; until when that holds. */
let latest: Allowance | undefined
let isShared = false
let sharedUntilMs = 0
/** The end of the round will be noticed. */
let isDue = false
/** Of what is being done; 0: the time was not asked for yet. */
let beganMs = 0

/** `bytes` have come for an endpoint: whether they are looked at now (then `endTurn` is next), or set aside (`inTurn`). */
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

/** What was begun is done. */
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

/** Does a piece of `work` in one of the next rounds, behind what waits for the same endpoint; `whom` it is for. */
export function inTurn(allowance: Allowance, work: Work, whom: Uint8Array, act: () => void): void {
  add(allowance, { act: asPiece(work, whom, act), endsRound: false })
}

/** For what is written with `await`: resolves when the endpoint has its turn. What follows is the last piece of that round. */
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

/** Of one endpoint, until its time is over. Returns the time. */
function doPieces(allowance: Allowance, endMs: number): number {
  let nowMs = performance.now()
  const untilMs = Math.min(endMs, nowMs + SLICE_MS)
  while (nowMs < untilMs) {
    // It stays the first one meanwhile: what it sets aside itself waits behind it.
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

/** Whether what is being done for one client has taken its time: others are to have their turn. It takes a tenth of a microsecond. */
export function isTurnOver(): boolean {
  const nowMs = performance.now()
  if (beganMs === 0) beganMs = nowMs
  return nowMs - beganMs > PIECE_MS
}

/** A client's work is looked at by the clock whenever it has come to so much, in plain requests: a tenth of its turn. */
export const COSTS_OF_A_LOOK = 512
/** What the reply to a noted request costs, in plain requests. */
export const NOTED_COSTS = 16
/** Of each word that is kept of it. */
export const WORD_COSTS = 4
/** Of so many bytes of an inline request: its words are found byte by byte. */
export const LINE_BYTES = 16
/** Of a reply that is only counted: it is looked at a second time where the replies of several shards are put in order. */
export const REPLY_COSTS = 4
