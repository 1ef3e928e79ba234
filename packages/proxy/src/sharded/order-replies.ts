import { ARRAY, ERROR, isBetweenReplies, PUSH, scanReply } from '@fairlead/engine'
import { steerLink } from '../connection/steer-client.ts'
import { isSubscribed } from '../remembered/connection-state.ts'
import { endRouter } from './close-router.ts'
import { collect, letGo } from './collected-replies.ts'
import { readRedirect } from './read-redirect.ts'
import { type Leg, type Owed, type Router, steerRouter } from './router.ts'
import { flushTold, tell } from './tell-client.ts'

/** A leg that has said more than this out of its turn is not read until it has its turn. */
const MOST_HELD_BYTES = 64 * 1024
/** Of a reply that is perhaps not an ordinary one. */
const LARGEST_KEPT_PART_BYTES = 64 * 1024
/** What all groups together may answer to KEYS and the like. */
const LARGEST_TAKEN_BYTES = 64 * 1024 * 1024

/** Bytes of a leg: they go to the client in the order of its requests, whichever leg answers first. */
export function orderReplies(leg: Leg, chunk: Buffer): void {
  const { router, replies } = leg
  let from = 0
  while (from < chunk.length && !router.closed) {
    if (isBetweenReplies(replies)) leg.careful = needsCare(leg, chunk[from])
    const end = scanReply(replies, chunk, from)
    if (replies.error !== undefined) {
      endRouter(router, undefined, `the engine's reply was not understood: ${replies.error}`)
      return
    }
    const to = end < 0 ? chunk.length : end
    if (leg.careful) holdPart(leg, chunk.subarray(from, to))
    else give(leg, leg.owed.first(), chunk, from, to)
    if (end >= 0 && !router.closed) endReply(leg)
    from = to
  }
  flushTold(router)
  if (router.owed.size === 0 || router.diverted.length > 0) router.onReplies()
}

/** Whether the reply that begins may be one that is not simply passed on. */
function needsCare({ owed, replies }: Leg, firstByte: number | undefined): boolean {
  const head = owed.first()
  if (head === undefined || head.take !== null || firstByte === ERROR || firstByte === PUSH) return true
  return firstByte === ATTRIBUTE || (firstByte === ARRAY && replies.keepWord)
}

const ATTRIBUTE = 0x7c

function holdPart(leg: Leg, part: Buffer): void {
  leg.parts.push(part)
  leg.partBytes += part.length
  if (!collect(leg.router, part.length)) {
    endRouter(leg.router, 'ERR the endpoint has too many long answers to put together: try again')
    return
  }
  if (leg.partBytes <= LARGEST_KEPT_PART_BYTES) return
  if (isOrdinary(leg)) giveParts(leg)
  else if (leg.partBytes > LARGEST_TAKEN_BYTES)
    endRouter(leg.router, 'ERR the answer of all groups is larger than this endpoint can put together')
}

/** By now its first word has been read: it is a reply like any other, and need not be seen whole. */
function isOrdinary(leg: Leg): boolean {
  const head = leg.owed.first()
  const { type } = leg.replies
  if (head === undefined || head.take !== null || isConfirmation(leg, head)) return false
  return type !== 0 && type !== PUSH && type !== ERROR && !isMessage(leg, head)
}

function giveParts(leg: Leg): void {
  const { parts } = leg
  letGo(leg.router, leg.partBytes)
  leg.careful = false
  leg.parts = []
  leg.partBytes = 0
  for (const part of parts) give(leg, leg.owed.first(), part, 0, part.length)
}

function endReply(leg: Leg): void {
  const head = leg.owed.first()
  if (!leg.careful) {
    if (head !== undefined) finish(leg, head)
    return
  }
  const whole = leg.parts.length === 1 ? (leg.parts[0] ?? nothing) : Buffer.concat(leg.parts)
  // What is taken for an answer of several groups is counted until that is told.
  if (head === undefined || head.take === null || !leg.router.busy) letGo(leg.router, leg.partBytes)
  leg.parts = []
  leg.partBytes = 0
  takeWhole(leg, head, whole)
}

const nothing = Buffer.alloc(0)

function takeWhole(leg: Leg, head: Owed | undefined, whole: Buffer): void {
  const { router, replies } = leg
  if (head !== undefined && isConfirmation(leg, head)) {
    give(leg, head, whole, 0, whole.length)
    if (head.confirmations !== null) head.confirmations.left -= 1
    if (head.confirmations?.left === 0) finish(leg, head)
    return
  }
  if (head === undefined || replies.type === PUSH || isMessage(leg, head)) {
    tellBetween(leg, whole)
    return
  }
  if (head.take !== null) {
    leg.owed.shift()
    head.take(whole)
    return
  }
  const redirect = replies.type === ERROR ? readRedirect(replies.text, head.slot, head.isEngines) : null
  if (redirect !== null) {
    leg.owed.shift()
    const shard = leg.connection.via?.shard ?? ''
    router.diverted.push({ owed: head, leg, redirect, shard, reply: whole })
    router.gated = true
    return
  }
  give(leg, head, whole, 0, whole.length)
  finish(leg, head)
}

function isConfirmation({ replies }: Leg, { confirmations }: Owed): boolean {
  return (replies.type === PUSH || replies.type === ARRAY) && replies.word === confirmations?.word
}

/** Of a subscription, in RESP2. */
function isMessage({ replies, connection: { state } }: Leg, head: Owed): boolean {
  if (replies.type !== ARRAY || !/^[ps]?message$/.test(replies.word)) return false
  return head.confirmations !== null || (state.protocol === 2 && isSubscribed(state))
}

/** Part of a reply: told at once if its turn has come. */
export function give(leg: Leg, owed: Owed | undefined, chunk: Buffer, from: number, to: number): void {
  const { router } = leg
  if (owed === undefined || owed.silent) return
  if (router.owed.first() === owed) {
    owed.begun = true
    tell(router, chunk, from, to)
    return
  }
  holdBack(leg, owed, chunk.subarray(from, to))
}

function holdBack(leg: Leg, owed: Owed, bytes: Buffer): void {
  owed.heldBy = leg
  if (owed.parts.length === 0) owed.parts = [bytes]
  else (owed.parts as Buffer[]).push(bytes)
  leg.heldBytes += bytes.length
}

/** The reply has come, whole. */
export function finish(leg: Leg, owed: Owed): void {
  leg.owed.shift()
  leg.last = owed
  owed.done = true
  forget(leg.router, owed)
  if (leg.router.owed.first() === owed) advance(leg.router)
}

/** Its request need not be kept any more. */
export function forget(router: Router, owed: Owed): void {
  router.keptBytes -= owed.request?.length ?? 0
  owed.request = null
}

/** The reply whose turn it was has been told: so those that have come already follow. */
export function advance(router: Router): void {
  for (let head = router.owed.first(); head?.done === true; head = router.owed.first()) {
    tellParts(router, head)
    head.delivered = true
    router.owed.shift()
    for (const bytes of router.between.splice(0)) tell(router, bytes, 0, bytes.length)
  }
  const head = router.owed.first()
  if (head !== undefined && head.parts.length > 0) {
    head.begun = true
    tellParts(router, head)
  }
  if (router.client.isPaused()) steerRouter(router)
}

function tellParts(router: Router, owed: Owed): void {
  const { heldBy } = owed
  const wasFull = heldBy !== null && isHeldBack(heldBy)
  for (const bytes of owed.parts) {
    tell(router, bytes, 0, bytes.length)
    if (heldBy !== null) heldBy.heldBytes -= bytes.length
  }
  owed.parts = []
  if (wasFull && !isHeldBack(heldBy)) steerLink(heldBy.connection)
}

/** It is not read, because it has said too much out of its turn. */
export function isHeldBack({ heldBytes }: Leg): boolean {
  return heldBytes > MOST_HELD_BYTES
}

/** A message that nobody asked for: behind the replies that its engine gave before it, and never inside of another. */
function tellBetween(leg: Leg, bytes: Buffer): void {
  const { router, last } = leg
  if (last !== null && !last.delivered) {
    holdBack(leg, last, bytes)
  } else if (router.owed.first()?.begun === true) router.between.push(bytes)
  else tell(router, bytes, 0, bytes.length)
}
