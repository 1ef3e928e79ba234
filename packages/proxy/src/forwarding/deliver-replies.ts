import { ARRAY, ERROR, isBetweenReplies, PUSH, RESTS } from '@fairlead/engine'
import { countUnanswered } from '../connection/assume-success.ts'
import { cachingAfter } from '../connection/client-caching.ts'
import type { Connection } from '../connection/connection.ts'
import { endConnection } from '../connection/end-connection.ts'
import { learnLogin, takeProof } from '../connection/judge-login.ts'
import { mayKeepEarly } from '../connection/kept-early.ts'
import { countSubscribed } from '../connection/kept-subscriptions.ts'
import { countKept } from '../connection/kept-transactions.ts'
import type { Link, Noted } from '../connection/link.ts'
import { dropNote } from '../connection/noted.ts'
import { sendToClient, steerClient, steerLink } from '../connection/steer-client.ts'
import { afterTransaction } from '../remembered/after-command.ts'
import { isSubscribed } from '../remembered/connection-state.ts'
import { createExecMarking, type ExecMarking, markNext } from '../remembered/mark-exec.ts'
import { isScan, markReply } from '../remembered/scan-cursors.ts'
import { noteReplies } from '../traffic/count-traffic.ts'
import { confirm, isConfirmation } from './confirm-channels.ts'
import { findEndOfReply } from './find-end.ts'
import { endIfDone, forwardStash } from './forward-requests.ts'
import { learnScripts, stateAfter, withoutRefused } from './state-after.ts'
import { endIfMiscounted, mayAnswerTrial } from './trial.ts'
import { COSTS_OF_A_LOOK, isTurnOver, NOTED_COSTS, REPLY_COSTS } from './turns.ts'

/** Delivers the replies of one turn. Returns the number of bytes handled. */
export function takeSome(connection: Connection, link: Link, bytes: Buffer): number {
  const { replies } = link
  let chunk = bytes
  let from = 0
  let at = 0
  let done = 0
  while (at < chunk.length) {
    if (isBetweenReplies(replies)) {
      link.careful =
        (link.noted.size > 0 && needsCare(connection, link, chunk[at])) ||
        mayBeLeftChannel(connection, chunk[at]) ||
        mayAnswerTrial(link, chunk[at])
      // Not for +QUEUED in a transaction: to send each of thousands separately took 20 ms.
      link.beginning = !link.careful && chunk[at] === ARRAY && isOfScan(link) ? nothing : null
      link.marking = link.noted.size > 0 ? markingOf(connection, link) : null
      if (link.careful || link.beginning !== null || link.marking !== null) {
        sendToClient(connection, link, chunk.subarray(from, at))
        from = at
      }
    }
    const end = findEndOfReply(replies, chunk, at)
    if (end === RESTS) chunk = bytes.subarray(0, replies.restsAt)
    if (!link.careful && (link.beginning !== null || link.marking !== null)) {
      const to = end < 0 ? chunk.length : end
      const part = chunk.subarray(from, to)
      if (link.marking === null) sendScanPart(connection, link, part, end >= 0)
      else sendMarked(connection, link, part)
      from = to
    }
    if (end < 0) break
    at = end
    if (link.noted.size > 0) done += NOTED_COSTS
    endIfMiscounted(connection, link)
    if (connection.mode === 'closed') return bytes.length
    const head = link.careful ? headOf(link) : undefined
    const isSwallowed = takeReply(connection, link)
    if (link.unproven || link.unanswered.waiting.size > 0) countUnanswered(connection, link)
    if (link.careful) {
      if (!isSwallowed) sendWhole(connection, link, chunk.subarray(from, end), head)
      link.parts = []
      link.partBytes = 0
      from = end
    }
    done += REPLY_COSTS
    if (done > COSTS_OF_A_LOOK || link.onWhole !== null) {
      done = 0
      if (link.onWhole !== null || isTurnOver()) chunk = bytes.subarray(0, at)
    }
  }
  if (replies.error !== undefined) {
    endForNonsense(connection, replies.error)
    return bytes.length
  }
  const rest = chunk.subarray(from)
  if (link.careful && !isBetweenReplies(replies)) keepPart(connection, link, rest)
  else sendToClient(connection, link, rest)
  if (!countSubscribed(connection)) endConnection(connection, tooManyChannels)
  if (connection.mode !== 'closed') afterReplies(connection, link, chunk.length)
  return chunk.length
}

/** Sends a message that was kept until it was complete. `head`: note of the request it may answer. */
function sendWhole(connection: Connection, link: Link, end: Buffer, head: Noted | undefined): void {
  const whole = Buffer.concat([...link.parts, end])
  const isAnswer = head !== undefined && headOf(link) !== head
  sendMarked(connection, link, isAnswer && head.answer !== null ? head.answer(whole) : whole)
}

function endForNonsense(connection: Connection, error: string): void {
  const trouble = `the engine's reply was not understood: ${error}`
  connection.owner.onError(trouble)
  endConnection(connection, undefined, trouble)
}

/** Limit of a reply that must be complete before it is passed on. */
const LARGEST_WHOLE_BYTES = 64 * 1024 * 1024

function keepPart(connection: Connection, link: Link, part: Buffer): void {
  if (link.early !== null && !mayKeepEarly(link, part.length)) return
  link.parts.push(part)
  link.partBytes += part.length
  if (link.partBytes <= LARGEST_WHOLE_BYTES) return
  link.parts = []
  endConnection(connection, 'ERR this reply is larger than an endpoint keeps')
}

const tooManyChannels = 'ERR this connection has more subscriptions than an endpoint keeps'

/** Sends the next bytes of a reply, possibly of an EXEC with scans in it. */
function sendMarked(connection: Connection, link: Link, part: Buffer): void {
  const pieces = link.marking === null ? [part] : markNext(link.marking, part)
  // In one write: a write for each of thousands of scans took 20 ms.
  sendToClient(connection, link, pieces.length === 1 ? (pieces[0] ?? part) : Buffer.concat(pieces))
}

/** Keeps back a reply to a scan until its cursor is complete, then replaces the cursor. */
function sendScanPart(connection: Connection, link: Link, part: Buffer, isWhole: boolean): void {
  const { beginning, generation } = link
  const bytes = beginning === null || beginning.length === 0 ? part : Buffer.concat([beginning, part])
  const marked = markReply(bytes, isWhole, generation)
  link.beginning = marked === null ? bytes : null
  if (marked !== null) sendToClient(connection, link, marked)
}

const nothing = Buffer.alloc(0)

function isOfScan(link: Link): boolean {
  const head = link.noted.size > 0 ? headOf(link) : undefined
  return head !== undefined && isScan(head.command)
}

/** Returns a marking if the reply that begins is an EXEC's with replies to scans in it. */
function markingOf({ session: { state } }: Connection, link: Link): ExecMarking | null {
  const scans = headOf(link)?.command.name === 'EXEC' ? (state.transaction?.scans ?? []) : []
  return scans.length === 0 ? null : createExecMarking(scans, link.generation)
}

function afterReplies(connection: Connection, link: Link, bytes: number): void {
  noteReplies(connection, link, bytes)
  if (isBetweenReplies(link.replies)) link.onWhole?.()
  if (connection.link === link) {
    steerLink(connection)
    if (connection.client.isPaused()) steerClient(connection)
    if (connection.mode === 'serving' && connection.input.stash.length > 0 && !connection.input.blocked)
      forwardStash(connection)
    const {
      mode,
      owner,
      session: { again },
    } = connection
    if (mode === 'draining' || mode === 'held' || again !== null) owner.onQuiet(connection)
    endIfDone(connection)
  }
}

/** True if the next reply may be one that the client must not see. */
function needsCare(connection: Connection, link: Link, firstByte: number | undefined): boolean {
  const head = headOf(link)
  if (head === undefined) return false
  // Commands of EXEC that failed have not changed the connection.
  link.replies.watched = head.command.name === 'EXEC' ? changesOf(connection) : none
  if (head.isOwn) return firstByte !== PUSH || link.early !== null
  if (head.answer !== null) return firstByte !== PUSH
  return head.nilInstead || (head.blocks && firstByte === ERROR && mayHaveGivenUp(connection))
}

/**
 * True if this may be a false sunsubscribe: an engine that loses its slots (cluster mode) ends subscriptions
 * there, but at a handover the client stays subscribed, at the successor.
 */
function mayBeLeftChannel({ mode, session: { state } }: Connection, firstByte: number | undefined): boolean {
  if (mode === 'serving' || state.subscribed.shardChannels.size === 0) return false
  // In RESP3 an array is a reply, whatever its first word.
  return firstByte === PUSH || (firstByte === ARRAY && state.protocol === 2)
}

const none: readonly number[] = []

function changesOf({ session: { state } }: Connection): readonly number[] {
  return state.transaction?.changes.map(({ at }) => at) ?? none
}

/** Returns the note of the request that is answered next. */
export function headOf({ noted, answered }: Link): Noted | undefined {
  const head = noted.first()
  return head?.at === answered + 1 ? head : undefined
}

/** Handles one message. Returns true if the client must not see it. */
function takeReply(connection: Connection, link: Link): boolean {
  const { replies } = link
  const head = link.noted.size > 0 ? headOf(link) : undefined
  if (replies.type === PUSH || (replies.type === ARRAY && replies.keepWord)) {
    if (head !== undefined && isConfirmation(head, replies.word)) return confirm(connection, link, head)
    if (replies.word === 'sunsubscribe' && mayBeLeftChannel(connection, replies.type)) return true
    if (replies.type === PUSH)
      return head?.isOwn === true && replies.word.endsWith('subscribe')
        ? takeOwn(connection, link, head)
        : false
    if (
      connection.session.state.protocol === 2 &&
      isMessage(replies.word) &&
      isSubscribed(connection.session.state)
    )
      return false
  }
  if (link.answered === link.sent) {
    // Unrequested: most likely the reason for which the engine closes the connection next.
    if (link.early !== null) {
      link.socket.destroy()
      return false
    }
    const why = 'the engine sent an unrequested message'
    const unmovable = connection.session.state.unmovable ?? { code: 'reply_count', why }
    connection.session.state = { ...connection.session.state, unmovable }
    return false
  }
  if (head === undefined) {
    if (connection.login.is !== 'confirmed') learnLogin(connection, link, '')
    countReply(connection, link)
    return false
  }
  if (head.isOwn) return takeOwn(connection, link, head)
  if (connection.login.is !== 'confirmed') learnLogin(connection, link, head.command.name)
  countReply(connection, link)
  dropNote(link)
  return takeNoted(connection, link, head)
}

/** Counts a reply to the client. */
function countReply({ owner }: Connection, link: Link): void {
  const { tape } = owner
  link.answered += 1
  tape.replies += 1
  if (link.replies.type === ERROR) tape.errors += 1
}

function isMessage(word: string): boolean {
  return word === 'message' || word === 'pmessage' || word === 'smessage'
}

/** Handles a reply to the replay or to a probe. */
function takeOwn(connection: Connection, link: Link, head: Noted): true {
  const { replies } = link
  if (head.proves) takeProof(connection, link)
  link.answered += 1
  dropNote(link)
  link.own -= 1
  const trouble = replies.type === ERROR && head.must ? replies.text.trim() : undefined
  const isLast = link.own === 0
  if (trouble !== undefined || isLast) {
    const tell = link.onOwnAnswered
    link.onOwnAnswered = null
    tell?.(trouble)
  }
  return true
}

function takeNoted(connection: Connection, link: Link, head: Noted): boolean {
  const { command } = head
  const { type, text } = link.replies
  const worked = type !== ERROR
  if (head.blocks) {
    // Ended, so not executed: sent to the new primary, or answered with an error if not completely kept.
    if (!worked && !command.cutShort && mayHaveGivenUp(connection) && isGivenUp(text)) {
      connection.move.mayBeGivenUp = false
      connection.session.again = { command, sinceMs: head.sinceMs, keepsLink: isUnblocked(text) }
      return true
    }
    connection.input.blocked = false
    if (connection.move.mayBeGivenUp) connection.owner.onUnblocked(connection)
  }
  const isAnswered = head.nilInstead && answerLostWatch(connection, link, head)
  if (!head.nilInstead) {
    if (worked) learnScripts(connection, head, link.replies.isNil)
    connection.session.state = stateAfter(connection, link, head)
    if (worked) connection.session.caching = cachingAfter(connection, link, head)
  }
  if (head.keptBytes > 0) {
    connection.session.underWayBytes -= head.keptBytes
    countKept(connection)
  }
  return isAnswered
}

/** A demoted engine sends REDIRECT to clients with CLIENT CAPA redirect: the endpoint moves anyway. */
function isGivenUp(text: string): boolean {
  return text.startsWith('UNBLOCKED force unblock') || text.startsWith('REDIRECT ') || isUnblocked(text)
}

/** True if ended for a handover: the connection stays. Users may not send CLIENT UNBLOCK. */
function isUnblocked(text: string): boolean {
  return text.startsWith('UNBLOCKED client unblocked')
}

function mayHaveGivenUp({ mode, move: { mayBeGivenUp } }: Connection): boolean {
  return mode !== 'serving' || mayBeGivenUp
}

/** Answers an EXEC for which the engine got DISCARD. Returns true if its OK is replaced. */
function answerLostWatch(connection: Connection, link: Link, head: Noted): boolean {
  if (link.replies.type === ERROR) return false
  const state = withoutRefused(connection.session.state, link, head, false)
  const isBroken = state.transaction?.broken ?? false
  connection.session.state = afterTransaction(state)
  const nil = state.protocol === 3 ? '_\r\n' : '*-1\r\n'
  const answer = isBroken ? '-EXECABORT Transaction discarded because of previous errors.\r\n' : nil
  sendToClient(connection, link, Buffer.from(answer))
  return true
}
