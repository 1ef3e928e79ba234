import { encodeCommand, gather, KEPT_BYTES, scanRequest, stopKeeping, takeGathered } from '@fairlead/engine'
import { assumeSuccess } from '../connection/assume-success.ts'
import type { Connection } from '../connection/connection.ts'
import { endConnection } from '../connection/end-connection.ts'
import { isPublishing } from '../connection/hush.ts'
import { foreseeLogin, goesAlone, isToBeProven, mustWait, proveLogin } from '../connection/judge-login.ts'
import {
  countKept,
  dropQueued,
  LARGEST_TRANSACTION_BYTES,
  SMALL_BYTES,
} from '../connection/kept-transactions.ts'
import type { Link } from '../connection/link.ts'
import { isUnanswered, lookAhead, makeUnmovable } from '../connection/look-ahead.ts'
import { costsOf, isOwedMuch, NOTED_ALONE, noted, takeDown } from '../connection/noted.ts'
import { probe } from '../connection/send-own.ts'
import { provenMulti } from '../connection/silent-transactions.ts'
import { stash, steerClient } from '../connection/steer-client.ts'
import { isAnswered, isPartlySent } from '../connection/under-way.ts'
import type { Command } from '../remembered/command.ts'
import { isBlocking, subscriptions, unmovable } from '../remembered/commands.ts'
import { encodeScan, isScan } from '../remembered/scan-cursors.ts'
import { isChange, sizeOf } from '../remembered/transaction-state.ts'
import { keptBy } from '../remembered/unmovable.ts'
import { insteadOfNothing } from './instead-of-nothing.ts'
import {
  hasLookedEnough,
  hasReadEnough,
  inTurn,
  LINE_BYTES,
  NOTED_COSTS,
  REQUESTS_AT_ONCE,
  WORD_COSTS,
} from './turns.ts'
import { keepBack, keepForHush, mayPublish, withTable } from './wait-for-hush.ts'

/**
 * As much of a request is kept until it is whole, so that it can go to whichever engine has the role by then. A longer one is
 * forwarded as it comes. More than engines take from a client that has not logged in: a stranger cannot hold up a handover.
 */
export const LONGEST_BEGUN_BYTES = 64 * 1024

/** Bytes of the client: they go to the engine as they are, or into the stash where a request begins that may not go yet. */
export function takeRequests(connection: Connection, chunk: Buffer): void {
  const { link, protocolError, mode } = connection
  if (mode === 'closed') return
  const mayGo = isFlowing(connection) || isPartlySent(connection)
  if (protocolError !== undefined) forwardUnread(connection, chunk)
  else if (link === null || !mayGo || connection.stash.length > 0) stash(connection, chunk)
  else {
    forward(connection, link, chunk)
    const hasEnough = hasLookedEnough(connection.requests) || hasReadEnough(connection, chunk)
    if (hasEnough) letOthersGo(connection)
  }
}

/** It has had its turn. What it sends waits until others have had theirs. */
function letOthersGo(connection: Connection): void {
  if (connection.yielded) return
  connection.yielded = true
  steerClient(connection)
  inTurn('takes requests again of', connection.visitor.crumb, () => {
    connection.yielded = false
    if (connection.mode !== 'closed') forwardStash(connection)
  })
}

/** Forwards what was stashed, as far as it may go now. */
export function forwardStash(connection: Connection): void {
  while (connection.stash.length > 0 && connection.link !== null && isFlowing(connection)) {
    // Together: a client may have sent each byte on its own. What must wait again is put back.
    const [first, ...others] = connection.stash
    if (first === undefined) return
    const chunk = others.length === 0 ? first : Buffer.concat([first, ...others])
    connection.stash = []
    connection.stashBytes = 0
    forward(connection, connection.link, chunk)
  }
  if (connection.protocolError !== undefined) {
    for (const chunk of connection.stash) forwardUnread(connection, chunk)
    connection.stash = []
    connection.stashBytes = 0
  }
  steerClient(connection)
  endIfDone(connection)
}

/** What cannot be understood is the engine's to judge. Once clients are held it is dropped: the connection is about to be closed. */
function forwardUnread(connection: Connection, chunk: Buffer): void {
  const { link, mode } = connection
  if (link !== null && mode === 'serving') send(connection, link, chunk)
}

/** The client will send no more: once all is answered, its connection ends. One that would only wait ends at once. */
export function endIfDone(connection: Connection): void {
  const { link, clientEnded, protocolError, stash: waiting, mode, blocked, state, ahead } = connection
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
  // Blocked, the engine would carry out nothing more, and let go of a client that is gone.
  const onlyWaits = clientEnded && (blocked || state.unmovable !== undefined)
  if (waiting.length > 0 && !onlyWaits) return
  if (!onlyWaits && link.sent !== link.answered) return
  const isTold = protocolError !== undefined && !ahead.silent && !ahead.skipsNext
  endConnection(connection, isTold ? `ERR Protocol error: ${protocolError}` : undefined)
}

/** A request may begin to be forwarded. */
function isFlowing(connection: Connection): boolean {
  const { mode, blocked, hushed, yielded, link, protocolError } = connection
  if (mode !== 'serving' || blocked || hushed || yielded || protocolError !== undefined) return false
  return link === null || !(link.proving || mustWait(link) || isOwedMuch(connection, link))
}

/** What goes to the engine goes in one piece: a request that is replaced by another is a write of its own, and a client may send 1,000 of them. */
function forward(connection: Connection, link: Link, bytes: Buffer): void {
  link.socket.cork()
  forwardEach(connection, link, bytes)
  link.socket.uncork()
}

function forwardEach(connection: Connection, link: Link, bytes: Buffer): void {
  const { requests, ahead, owner, begun } = connection
  const goesOn = isPartlySent(connection)
  const chunk = withTable(connection, bytes)
  let from = 0
  let at = 0
  let done = 0
  while (at < chunk.length) {
    const end = scanRequest(requests, chunk, at)
    if (end < 0) break
    const begin = at
    at = end
    if (owner.hush.isOn && mayPublish(connection) && !(goesOn && begin === 0)) {
      if (begin > 0) send(connection, link, chunk.subarray(from, begin))
      keepForHush(connection, chunk, begin)
      return
    }
    if (isToBeProven(connection) && !(goesOn && begin === 0)) {
      if (begin > 0) send(connection, link, chunk.subarray(from, begin))
      keepBack(connection, chunk, begin)
      proveLogin(link)
      return
    }
    if (goesAlone(connection, link) && !(goesOn && begin === 0)) {
      if (begin > 0) send(connection, link, chunk.subarray(from, begin))
      keepBack(connection, chunk, begin)
      return
    }
    done += 1
    let { instead } = requests
    const looks = instead === null ? 1 : 3
    if (requests.lineBytes > 0) done += Math.ceil((looks * requests.lineBytes) / LINE_BYTES)
    if (requests.empty) instead = insteadOfNothing(connection)
    else {
      owner.count.commands += 1
      if (requests.command === undefined && !ahead.inTransaction && !ahead.silent && !ahead.skipsNext)
        link.sent += 1
      else {
        done += NOTED_COSTS + WORD_COSTS * requests.words.length
        instead = note(connection, link, !goesOn || begin > 0) ?? instead
      }
    }
    if (instead !== null) {
      // The request is replaced by another: its own bytes do not go.
      if (begin > 0) send(connection, link, chunk.subarray(from, begin))
      else takeGathered(begun)
      if (instead.length > 0 && !link.socket.write(instead)) connection.client.pause()
      from = end
    }
    if (done > REQUESTS_AT_ONCE && at < chunk.length) letOthersGo(connection)
    if (!isFlowing(connection)) {
      send(connection, link, chunk.subarray(from, at))
      if (connection.mode === 'draining' && link.unproven && !ahead.inTransaction) probe(connection, link)
      stash(connection, chunk.subarray(at))
      return
    }
  }
  if (requests.error !== undefined) {
    connection.protocolError = requests.error
    if (connection.mode === 'serving') send(connection, link, chunk.subarray(from))
    endIfDone(connection)
    return
  }
  const unwhole = chunk.length - at + (at === 0 ? begun.length : 0)
  const isOfScan = requests.command !== undefined && isScan(requests.command)
  const beginsLong = !(goesOn && at === 0) && unwhole > LONGEST_BEGUN_BYTES
  if (beginsLong && ((owner.hush.isOn && mayPublish(connection)) || (owner.gate.isClosed && !isOfScan))) {
    if (at > 0) send(connection, link, chunk.subarray(from, at))
    keepForHush(connection, chunk, at)
    return
  }
  if (requests.keepAll && !countKept(connection) && requests.keptBytes + requests.part.length > SMALL_BYTES) {
    stopKeeping(requests)
    countKept(connection)
  }
  if (((goesOn && at === 0) || beginsLong) && !isOfScan) {
    send(connection, link, chunk.subarray(from))
    return
  }
  send(connection, link, chunk.subarray(from, at))
  // Another request goes instead of a scan: once its name is known, all that is needed of it is in the scanner.
  if (at < chunk.length && !(isOfScan && begun.length > 0)) gather(begun, chunk.subarray(at))
}

const discard = encodeCommand(['DISCARD'])
function send({ begun, client }: Connection, link: Link, bytes: Buffer): void {
  const { socket } = link
  if (bytes.length === 0) return
  if (begun.length === 0) {
    if (!socket.write(bytes)) client.pause()
    return
  }
  socket.cork()
  socket.write(takeGathered(begun))
  if (!socket.write(bytes)) client.pause()
  socket.uncork()
}

/**
 * Takes down what the reply to a request will change; of one that `isUnsent` nothing is forwarded. What has to go instead of
 * it; null: it goes as it is.
 */
function note(connection: Connection, link: Link, isUnsent: boolean): Buffer | null {
  const { ahead, requests, watchLost, owner } = connection
  const wasInTransaction = ahead.inTransaction
  const command = wasInTransaction
    ? keptCommand(connection, readCommand(connection))
    : readCommand(connection)
  const isExec = command.name === 'EXEC' && command.args.length === 0
  const nilInstead = watchLost && wasInTransaction && isExec && isUnsent
  const scan = isScan(command) ? encodeScan(command, link.generation) : null
  const used = owner.scripts.use(command)
  const script = wasInTransaction ? undefined : used
  if (wasInTransaction) ahead.publishes ||= isPublishing(command.name)
  lookAhead(connection, command)
  requests.keepAll = ahead.inTransaction
  requests.keepsMost = ahead.inTransaction ? LARGEST_TRANSACTION_BYTES : KEPT_BYTES
  if (unmovable.has(command.name) && !wasInTransaction) makeUnmovable(connection, keptBy(command.name))
  if (command.name in subscriptions) {
    link.replies.keepWord = true
    if (command.cutShort) makeUnmovable(connection, { code: 'too_much', why: `a very long ${command.name}` })
  }
  // What a stranger asks is answered, whatever it says.
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
  connection.blocked ||= blocks
  const keptBytes = wasInTransaction ? sizeOf(command) : 0
  connection.underWayBytes += keptBytes
  // Of a script its arguments may be long, and are not needed when it is answered.
  const needed = script === undefined ? command : { name: command.name, args: [], cutShort: false }
  // What is kept of transactions has a bound of its own.
  const costs = wasInTransaction ? NOTED_ALONE : costsOf(needed)
  takeDown(link, { ...noted(link, needed), nilInstead, blocks, script, keptBytes, costs })
  return scan ?? (nilInstead ? discard : null)
}

/** A command of a transaction, as far as there is room for it. */
function keptCommand(connection: Connection, command: Command): Command {
  if (countKept(connection)) return command
  dropQueued(connection)
  const isNeeded = isChange(command) || isScan(command)
  if (command.args.length === 0 || (isNeeded && sizeOf(command) <= SMALL_BYTES)) return command
  return { name: command.name, args: [], cutShort: true }
}

function readCommand({ requests, ahead }: Connection): Command {
  const { command, words, cutShort } = requests
  if (!ahead.inTransaction) {
    if (command === undefined) return { name: '', args: [], cutShort: false }
    return { name: command.name, args: words, cutShort }
  }
  // Of one that is not kept there are no words, but it is what it is.
  const [first, ...args] = words
  return { name: command?.name ?? String(first ?? '').toUpperCase(), args, cutShort }
}

/** Whether the replies of everything forwarded are in. */
export function isDrained(connection: Connection): boolean {
  const { link } = connection
  return link === null || (!isPartlySent(connection) && isAnswered(link))
}
