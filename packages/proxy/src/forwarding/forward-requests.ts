import { encodeCommand, KEPT_BYTES, RESTS, takeGathered } from '@fairlead/engine'
import { assumeSuccess } from '../connection/assume-success.ts'
import type { Connection } from '../connection/connection.ts'
import { endConnection } from '../connection/end-connection.ts'
import { foreseeLogin, goesAlone, isToBeProven, mustWait, proveLogin } from '../connection/judge-login.ts'
import { dropPart } from '../connection/keep-part.ts'
import {
  countKept,
  dropQueued,
  LARGEST_TRANSACTION_BYTES,
  SMALL_BYTES,
} from '../connection/kept-transactions.ts'
import type { Link } from '../connection/link.ts'
import { isUnanswered, lookAhead, makeUnmovable } from '../connection/look-ahead.ts'
import { costsOf, hasManyPendingReplies, NOTED_ALONE, noted, takeDown } from '../connection/noted.ts'
import { needsSubscribers } from '../connection/publish-barrier.ts'
import { probe } from '../connection/send-own.ts'
import { provenMulti } from '../connection/silent-transactions.ts'
import { stash, steerClient } from '../connection/steer-client.ts'
import { isAnswered, isPartlySent, isTied } from '../connection/under-way.ts'
import { type Command, capitalsOf } from '../remembered/command.ts'
import { hasTooMany, isBlocking, subscriptions, unmovable } from '../remembered/commands.ts'
import { encodeScan, isScan } from '../remembered/scan-cursors.ts'
import { isChange, sizeOf } from '../remembered/transaction-state.ts'
import { keptBy } from '../remembered/unmovable.ts'
import { noteArrival, noteForwarded } from '../traffic/count-traffic.ts'
import { answerInstead, findPeers, mustFindPeers } from './answer-instead.ts'
import { findEndOfRequest } from './find-end.ts'
import { forwardRest, keepFrom, send } from './forward-rest.ts'
import { replaceEmptyRequest } from './instead-of-nothing.ts'
import { COSTS_OF_A_LOOK, inTurn, isTurnOver, LINE_BYTES, NOTED_COSTS, WORD_COSTS } from './turns.ts'
import { keepBack, keepForBarrier, mayNeedSubscribers, withTable } from './wait-for-publish-barrier.ts'

/** Forwards bytes of the client unchanged; stashes them from the first request that may not be sent yet. */
export function takeRequests(connection: Connection, chunk: Buffer): void {
  const {
    link,
    mode,
    input: { protocolError },
  } = connection
  if (mode === 'closed' || connection.input.lastError !== null) return
  noteArrival(connection, chunk.length)
  const mayGo = isFlowing(connection) || isCompleted(connection)
  if (protocolError !== undefined) forwardUnread(connection, chunk)
  else if (link === null || !mayGo || connection.input.stash.length > 0) stash(connection, chunk)
  else forward(connection, link, chunk)
}

/** Stashes bytes that arrived outside of the endpoint's turn. */
export function setRequestsAside(connection: Connection, chunk: Buffer): void {
  if (connection.mode === 'closed' || connection.input.lastError !== null) return
  noteArrival(connection, chunk.length)
  letOthersGo(connection)
  stash(connection, chunk)
}

/** Ends the client's turn: its next bytes wait for the next one. */
function letOthersGo(connection: Connection): void {
  if (connection.input.yielded) return
  connection.input.yielded = true
  steerClient(connection)
  inTurn(connection.owner.allowance, 'takes requests again of', connection.visitor.crumb, () => {
    connection.input.yielded = false
    if (connection.mode !== 'closed') forwardStash(connection)
  })
}

/** Forwards stashed bytes as far as allowed. */
export function forwardStash(connection: Connection): void {
  while (connection.input.stash.length > 0 && connection.link !== null && mayGoOn(connection)) {
    // As one piece, because a client may have sent single bytes. Bytes that must wait again are put back.
    const [first, ...others] = connection.input.stash
    if (first === undefined) return
    const chunk = others.length === 0 ? first : Buffer.concat([first, ...others])
    connection.input.stash = []
    connection.input.stashBytes = 0
    forward(connection, connection.link, chunk)
  }
  if (connection.input.protocolError !== undefined) {
    for (const chunk of connection.input.stash) forwardUnread(connection, chunk)
    connection.input.stash = []
    connection.input.stashBytes = 0
  }
  steerClient(connection)
  endIfDone(connection)
}

/** The engine answers unparsable bytes. In a hold they are dropped: the connection closes soon. */
function forwardUnread(connection: Connection, chunk: Buffer): void {
  const { link, mode } = connection
  if (link !== null && mode === 'serving') send(connection, link, chunk)
}

/** Ends the connection of a client that sends no more: after the last reply, or now if it would only wait. */
export function endIfDone(connection: Connection): void {
  const {
    link,
    mode,
    input: { clientEnded, protocolError, stash: waiting, blocked },
    session: { state, ahead },
  } = connection
  if (connection.input.lastError !== null) {
    if (mode !== 'closed' && (link === null || link.sent === link.answered))
      endConnection(connection, connection.input.lastError || undefined)
    return
  }
  const isUnread = protocolError !== undefined && mode === 'serving'
  if (mode === 'closed' || (!clientEnded && (protocolError === undefined || isUnread))) return
  if (link === null) {
    if (waiting.length === 0) endConnection(connection)
    return
  }
  if (isUnread) {
    link.socket.end()
    return
  }
  // An engine blocked for this client would execute nothing more, and drops a client that has left.
  const isAtBlocking = blocked && link.sent - link.answered <= 1
  const onlyWaits = clientEnded && (isAtBlocking || state.unmovable !== undefined)
  if (waiting.length > 0 && !onlyWaits) return
  if (!onlyWaits && link.sent !== link.answered) return
  const isTold = protocolError !== undefined && !ahead.silent && !ahead.skipsNext
  endConnection(connection, isTold ? `ERR Protocol error: ${protocolError}` : undefined)
}

function mayGoOn(connection: Connection): boolean {
  return isFlowing(connection) || (isCompleted(connection) && !connection.input.yielded)
}

/** True if a partly forwarded request must be completed, even in a hold, because it cannot follow. */
function isCompleted(connection: Connection): boolean {
  return isPartlySent(connection) && (connection.mode === 'serving' || connection.input.part === null)
}

/** True if a new request may be forwarded. */
function isFlowing(connection: Connection): boolean {
  const {
    mode,
    link,
    input: { blocked, heldByBarrier, yielded, protocolError, lastError },
    session: { found },
  } = connection
  if (mode !== 'serving' || blocked || heldByBarrier || yielded || protocolError !== undefined) return false
  if (found === 'awaited' || lastError !== null) return false
  return link === null || !(link.proving || mustWait(link) || hasManyPendingReplies(connection, link))
}

/** After the first replaced request all is sent as one piece: 1,000 replacements would be 1,000 writes. */
function forward(connection: Connection, link: Link, bytes: Buffer): void {
  const { sent } = link
  forwardEach(connection, link, bytes)
  noteForwarded(connection, link, sent)
  if (link.socket.writableCorked > 0) link.socket.uncork()
}

function forwardEach(connection: Connection, link: Link, bytes: Buffer): void {
  const {
    owner,
    input: { requests },
    session: { ahead },
  } = connection
  const goesOn = isPartlySent(connection)
  let chunk = withTable(connection, bytes)
  let from = 0
  let at = 0
  let done = 0
  let next: Buffer | null = null
  while (at < chunk.length) {
    const end = findEndOfRequest(requests, chunk, at)
    if (end === RESTS) {
      next = chunk.subarray(requests.restsAt)
      chunk = chunk.subarray(0, requests.restsAt)
      letOthersGo(connection)
    }
    if (end < 0) break
    const begin = at
    at = end
    const isNew = !(goesOn && begin === 0)
    if (!isNew) dropPart(connection)
    const keep = isNew ? keeperOf(connection, link) : null
    if (keep !== null) {
      keepFrom(connection, link, { chunk, from, begin, keep })
      return
    }
    done += 1
    let { instead } = requests
    const looks = instead === null ? 1 : 3
    if (requests.lineBytes > 0) done += Math.ceil((looks * requests.lineBytes) / LINE_BYTES)
    if (requests.empty) instead = replaceEmptyRequest(connection)
    else {
      owner.count.commands += 1
      if (requests.command === undefined && !ahead.inTransaction && !ahead.silent && !ahead.skipsNext)
        link.sent += 1
      else {
        done += NOTED_COSTS + WORD_COSTS * requests.words.length
        instead = note(connection, link, isNew) ?? instead
      }
    }
    if (instead !== null) {
      sendInstead(connection, link, begin > 0 ? chunk.subarray(from, begin) : null, instead)
      from = end
    }
    if (done > COSTS_OF_A_LOOK && at < chunk.length) {
      done = 0
      if (isTurnOver()) letOthersGo(connection)
    }
    if (!isFlowing(connection)) {
      send(connection, link, chunk.subarray(from, at))
      if (connection.mode === 'draining' && link.unproven && !ahead.inTransaction) probe(connection, link)
      stash(connection, chunk.subarray(at))
      return
    }
  }
  if (requests.error === undefined) forwardRest(connection, link, { chunk, from, at, goesOn })
  else endWith(connection, link, requests.error, chunk.subarray(from))
  if (next !== null) stash(connection, next)
}

/** Returns how to keep back the request read last; null if it is forwarded. */
function keeperOf(connection: Connection, link: Link): typeof keepBack | null {
  if (connection.owner.barrier.isOn && mayNeedSubscribers(connection)) return keepForBarrier
  // Most requests are of no command that is noted.
  if (connection.input.requests.command === undefined) {
    link.waitsForAll = false
    return null
  }
  if (isToBeProven(connection)) return keepUntilProven
  if (goesAlone(connection, link)) return keepBack
  return mustFindPeers(connection) ? keepUntilFound : null
}

function keepUntilFound(connection: Connection, chunk: Buffer, begin: number): void {
  const search = findPeers(connection, () => forwardStash(connection))
  keepBack(connection, chunk, begin)
  search()
}

function keepUntilProven(connection: Connection, chunk: Buffer, begin: number): void {
  keepBack(connection, chunk, begin)
  if (connection.link !== null) proveLogin(connection.link)
}

/** The engine gets the unparsable bytes, too, and answers the requests before them. */
function endWith(connection: Connection, link: Link, error: string, rest: Buffer): void {
  connection.input.protocolError = error
  dropPart(connection)
  if (connection.mode === 'serving') send(connection, link, rest)
  endIfDone(connection)
}

/** Sends `instead` for the request. `before`: bytes before it; null if it began in an earlier read. */
function sendInstead(connection: Connection, link: Link, before: Buffer | null, instead: Buffer): void {
  if (link.socket.writableCorked === 0) link.socket.cork()
  if (before === null) takeGathered(connection.input.begun)
  else send(connection, link, before)
  if (instead.length > 0 && !link.socket.write(instead)) connection.client.pause()
}

const discard = encodeCommand(['DISCARD'])
/** Notes the effect of a request. `isUnsent`: none of it is sent. Returns bytes to send instead, or null. */
function note(connection: Connection, link: Link, isUnsent: boolean): Buffer | null {
  const {
    owner,
    session: { ahead, watchLost },
    input: { requests },
  } = connection
  const wasInTransaction = ahead.inTransaction
  const command = wasInTransaction
    ? keptCommand(connection, readCommand(connection))
    : readCommand(connection)
  const isExec = command.name === 'EXEC' && command.args.length === 0
  const nilInstead = watchLost && wasInTransaction && isExec && isUnsent
  const scan = isScan(command) ? encodeScan(command, link.generation) : null
  const used = owner.scripts.use(command)
  const script = wasInTransaction ? undefined : used
  if (wasInTransaction) ahead.needsSubscribers ||= needsSubscribers(command.name)
  lookAhead(connection, command)
  requests.keepAll = ahead.inTransaction
  requests.keepsMost = ahead.inTransaction ? LARGEST_TRANSACTION_BYTES : KEPT_BYTES
  if (unmovable.has(command.name) && !wasInTransaction) makeUnmovable(connection, keptBy(command.name))
  if (command.name in subscriptions) {
    link.replies.keepWord = true
    if (command.cutShort) makeUnmovable(connection, { code: 'too_much', why: `a very long ${command.name}` })
  }
  // Requests before a login are answered, whatever they are.
  if (connection.login.is === 'confirmed' && isUnanswered(connection, command)) {
    const isOpening = !wasInTransaction && ahead.inTransaction
    const proven = isOpening && link.unproven ? provenMulti(connection, link) : null
    assumeSuccess(connection, link, command)
    foreseeLogin(connection, link, command)
    return proven ?? scan ?? (nilInstead ? discard : null)
  }
  link.sent += 1
  foreseeLogin(connection, link, command)
  const blocks = !wasInTransaction && isBlocking(command)
  connection.input.blocked ||= blocks
  const keptBytes = wasInTransaction ? sizeOf(command) : 0
  connection.session.underWayBytes += keptBytes
  // A script's arguments may be long, and are not needed for its reply.
  const needed = script === undefined ? command : { name: command.name, args: [], cutShort: false }
  // Commands of transactions have a separate limit.
  const costs = wasInTransaction ? NOTED_ALONE : costsOf(needed)
  const own = wasInTransaction ? null : answerInstead(connection, link, command, isUnsent)
  const answer = own?.answer ?? null
  takeDown(link, { ...noted(link, needed, costs), nilInstead, answer, blocks, script, keptBytes })
  return own?.instead ?? scan ?? (nilInstead ? discard : null)
}

/** Returns a command of a transaction, reduced if there is no room for it. */
function keptCommand(connection: Connection, command: Command): Command {
  if (countKept(connection)) return command
  dropQueued(connection)
  const isNeeded = isChange(command) || isScan(command)
  if (command.args.length === 0 || (isNeeded && sizeOf(command) <= SMALL_BYTES)) return command
  return { name: command.name, args: [], cutShort: true }
}

function readCommand({ input: { requests }, session: { ahead } }: Connection): Command {
  const { command, words, cutShort } = requests
  if (!ahead.inTransaction) {
    if (command === undefined) return { name: '', args: [], cutShort: false }
    const { name } = command
    return { name, args: words, cutShort: cutShort || hasTooMany({ name, args: words }) }
  }
  // Only the name of a command that is not kept is known here.
  const [first] = words
  const name = command?.name ?? (first === undefined ? '' : capitalsOf(first))
  return { name, args: words.slice(1), cutShort }
}

/** True if all replies to forwarded requests have arrived. */
export function isDrained(connection: Connection): boolean {
  const { link } = connection
  return link === null || (!isTied(connection) && isAnswered(link))
}
