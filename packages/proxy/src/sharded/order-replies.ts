import { ARRAY, ERROR, isBetweenReplies, PUSH, scanReply } from '@fairlead/engine'
import { steerLink } from '../connection/steer-client.ts'
import { isSubscribed } from '../remembered/connection-state.ts'
import { endRouter } from './close-router.ts'
import { collect, letGo } from './collected-replies.ts'
import { forgetRequest } from './kept-requests.ts'
import { flushOutgoing, queueForClient } from './outgoing.ts'
import { readRedirect } from './read-redirect.ts'
import { type Backend, type PendingReply, type Router, steerRouter } from './router.ts'

/** A backend with more bytes before its turn is paused until its turn. */
const MOST_HELD_BYTES = 64 * 1024
/** Limit of a reply that may be a special one. */
const LARGEST_KEPT_PART_BYTES = 64 * 1024
/** Limit of all groups' answers to KEYS and similar commands. */
const LARGEST_TAKEN_BYTES = 64 * 1024 * 1024

/** Takes bytes of a backend and passes them on in the order of the client's requests. */
export function orderReplies(backend: Backend, chunk: Buffer): void {
  const { router, replies } = backend
  let from = 0
  while (from < chunk.length && !router.closed) {
    if (isBetweenReplies(replies)) backend.careful = needsCare(backend, chunk[from])
    const end = scanReply(replies, chunk, from)
    if (replies.error !== undefined) {
      endRouter(router, undefined, `the engine's reply was not understood: ${replies.error}`)
      return
    }
    const to = end < 0 ? chunk.length : end
    if (backend.careful) holdPart(backend, chunk.subarray(from, to))
    else give(backend, backend.pending.first(), chunk, from, to)
    if (end >= 0 && !router.closed) endReply(backend)
    from = to
  }
  flushOutgoing(router)
  const {
    pending,
    diverted,
    input: { clientEnded, stash },
  } = router
  if (pending.size === 0 || diverted.length > 0 || clientEnded || stash.length > 0) router.onReplies()
}

/** True if the reply that begins may need special treatment. */
function needsCare({ pending, replies }: Backend, firstByte: number | undefined): boolean {
  const head = pending.first()
  if (head === undefined || head.take !== null || firstByte === ERROR || firstByte === PUSH) return true
  return firstByte === ATTRIBUTE || (firstByte === ARRAY && replies.keepWord)
}

const ATTRIBUTE = 0x7c

function holdPart(backend: Backend, part: Buffer): void {
  backend.parts.push(part)
  backend.partBytes += part.length
  if (!collect(backend.router, part.length)) {
    endRouter(backend.router, 'ERR the endpoint has too many long answers to put together: try again')
    return
  }
  if (backend.partBytes <= LARGEST_KEPT_PART_BYTES) return
  if (isOrdinary(backend)) giveParts(backend)
  else if (backend.partBytes > LARGEST_TAKEN_BYTES)
    endRouter(backend.router, 'ERR the answer of all groups is larger than this endpoint can put together')
}

/** True if its first word shows an ordinary reply, which can be passed on in pieces. */
function isOrdinary(backend: Backend): boolean {
  const head = backend.pending.first()
  const { type } = backend.replies
  if (head === undefined || head.take !== null || isConfirmation(backend, head)) return false
  return type !== 0 && type !== PUSH && type !== ERROR && !isMessage(backend, head)
}

function giveParts(backend: Backend): void {
  const { parts } = backend
  letGo(backend.router, backend.partBytes)
  backend.careful = false
  backend.parts = []
  backend.partBytes = 0
  for (const part of parts) give(backend, backend.pending.first(), part, 0, part.length)
}

function endReply(backend: Backend): void {
  const head = backend.pending.first()
  if (!backend.careful) {
    if (head !== undefined) finish(backend, head)
    return
  }
  const { parts } = backend
  // Bytes of an answer of several groups are counted until that answer is sent.
  if (head === undefined || head.take === null || !backend.router.busy)
    letGo(backend.router, backend.partBytes)
  backend.parts = []
  backend.partBytes = 0
  takeWhole(backend, head, parts)
}

function takeWhole(backend: Backend, head: PendingReply | undefined, parts: readonly Buffer[]): void {
  const { router, replies } = backend
  if (head?.take && replies.type !== PUSH && !isMessage(backend, head)) {
    backend.pending.shift()
    if (head.isOwn) uncount(backend)
    head.take(parts)
    return
  }
  const whole = joined(parts)
  if (head !== undefined && isConfirmation(backend, head)) {
    give(backend, head, whole, 0, whole.length)
    if (head.confirmations !== null) head.confirmations.left -= 1
    if (head.confirmations?.left === 0) finish(backend, head)
    return
  }
  if (head === undefined || replies.type === PUSH || isMessage(backend, head)) {
    sendBetween(backend, whole)
    return
  }
  const redirect = replies.type === ERROR ? readRedirect(replies.text, head.slot, head.isEngines) : null
  if (redirect !== null) {
    backend.pending.shift()
    const shard = backend.connection.via?.shard ?? ''
    // If the client gets another error instead, that is counted then.
    uncount(backend)
    router.diverted.push({ pendingReply: head, backend, redirect, shard, reply: whole })
    router.gated = true
    return
  }
  give(backend, head, whole, 0, whole.length)
  finish(backend, head)
}

/** Uncounts a reply that no client sees: the trace of a handover must not have it. */
function uncount({ connection, replies }: Backend): void {
  const { tape } = connection.owner
  tape.replies -= 1
  if (replies.type === ERROR) tape.errors -= 1
}

/** Not for long replies: copying 64 MB stops all clients of all databases for some 30 ms. */
export function joined(parts: readonly Buffer[]): Buffer {
  const [first] = parts
  return parts.length === 1 && first !== undefined ? first : Buffer.concat(parts)
}

function isConfirmation({ replies }: Backend, { confirmations }: PendingReply): boolean {
  return (replies.type === PUSH || replies.type === ARRAY) && replies.word === confirmations?.word
}

/** True for a message of a subscription, in RESP2. */
function isMessage(
  {
    replies,
    connection: {
      session: { state },
    },
  }: Backend,
  head: PendingReply,
): boolean {
  if (replies.type !== ARRAY || !/^[ps]?message$/.test(replies.word)) return false
  return head.confirmations !== null || (state.protocol === 2 && isSubscribed(state))
}

/** Takes a part of a reply: sent immediately if it is its turn. */
export function give(
  backend: Backend,
  pendingReply: PendingReply | undefined,
  chunk: Buffer,
  from: number,
  to: number,
): void {
  const { router } = backend
  if (pendingReply === undefined || pendingReply.silent) return
  if (router.pending.first() === pendingReply) {
    pendingReply.begun = true
    queueForClient(router, chunk, from, to)
    return
  }
  holdBack(backend, pendingReply, chunk.subarray(from, to))
}

function holdBack(backend: Backend, pendingReply: PendingReply, bytes: Buffer): void {
  pendingReply.heldBy = backend
  if (pendingReply.parts.length === 0) pendingReply.parts = [bytes]
  else (pendingReply.parts as Buffer[]).push(bytes)
  backend.heldBytes += bytes.length
}

/** Called when the reply is complete. */
export function finish(backend: Backend, pendingReply: PendingReply): void {
  backend.pending.shift()
  backend.last = pendingReply
  pendingReply.done = true
  forgetRequest(backend.router, pendingReply)
  if (backend.router.pending.first() === pendingReply) advance(backend.router)
}

/** Called when the present reply was sent: replies that have already arrived follow. */
export function advance(router: Router): void {
  for (let head = router.pending.first(); head?.done === true; head = router.pending.first()) {
    sendParts(router, head)
    head.delivered = true
    router.pending.shift()
    if (router.output.between.length > 0) sendMessages(router)
  }
  const head = router.pending.first()
  if (head !== undefined && head.parts.length > 0) {
    head.begun = true
    sendParts(router, head)
  }
  if (router.client.isPaused()) steerRouter(router)
}

function sendParts(router: Router, pendingReply: PendingReply): void {
  const { heldBy, parts } = pendingReply
  pendingReply.parts = []
  for (const bytes of parts)
    if (heldBy === null) queueForClient(router, bytes, 0, bytes.length)
    else sendHeld(heldBy, bytes)
}

/** Sends messages that arrived within a reply, which is complete now. */
function sendMessages(router: Router): void {
  for (const { backend, bytes } of router.output.between.splice(0)) sendHeld(backend, bytes)
}

/** Sends bytes of a backend that were held back. */
function sendHeld(backend: Backend, bytes: Buffer): void {
  const wasFull = isHeldBack(backend)
  queueForClient(backend.router, bytes, 0, bytes.length)
  backend.heldBytes -= bytes.length
  if (wasFull && !isHeldBack(backend)) steerLink(backend.connection)
}

/** True if the backend is paused, because it has sent too much before its turn. */
export function isHeldBack({ heldBytes }: Backend): boolean {
  return heldBytes > MOST_HELD_BYTES
}

/** Delivers an unrequested message after the earlier replies of its engine, never inside another reply. */
function sendBetween(backend: Backend, bytes: Buffer): void {
  const { router, last } = backend
  if (last !== null && !last.delivered) {
    holdBack(backend, last, bytes)
  } else if (router.pending.first()?.begun === true) {
    router.output.between.push({ backend, bytes })
    backend.heldBytes += bytes.length
  } else queueForClient(router, bytes, 0, bytes.length)
}
