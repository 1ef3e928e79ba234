import { setTimeout as delay } from 'node:timers/promises'
import { isBetweenReplies, messageOf, rewindRequest } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'
import { endConnection, endUnreached } from '../connection/end-connection.ts'
import { takePart } from '../connection/keep-part.ts'
import type { Link } from '../connection/link.ts'
import { noted, takeDown } from '../connection/noted.ts'
import { probe, restoreReplyOff } from '../connection/send-own.ts'
import { isSilentlyOpen } from '../connection/silent-transactions.ts'
import { mayReadOn, steerClient, steerLink } from '../connection/steer-client.ts'
import { isAnswered, isOnlyBlocked, isPartlySent } from '../connection/under-way.ts'
import { endIfDone, forwardStash, isDrained } from '../forwarding/forward-requests.ts'
import { encodeWithTimeLeft } from '../remembered/commands.ts'
import { adopt, completeLink, openLink, type Target } from './open-link.ts'
import { takePrepared } from './prepare-links.ts'
import { endLastMessage, takeLastMessages } from './take-last-messages.ts'

/** Longest time of a demoted engine to end blocking commands. Usually it ends them immediately. */
const GIVE_UP_MS = 300

/** Stops forwarding at the next request. */
export function holdConnection(connection: Connection): void {
  if (connection.mode !== 'serving') return
  connection.mode = 'draining'
  const {
    link,
    input: { blocked },
    session: { ahead },
  } = connection
  // The error that ends a blocking command is read after others are served, because thousands come at the
  // same time; but not while other replies are pending.
  connection.move.mayBeGivenUp = blocked
  if (isOnlyBlocked(connection)) link?.socket.pause()
  // In a transaction, an answer that proves everything before it is on its way.
  if (link?.unproven && !ahead.inTransaction && !isPartlySent(connection)) probe(connection, link)
  noticeQuiet(connection)
  endIfDone(connection)
}

/** True if a move would lose nothing; a draining connection is then held. */
export function noticeQuiet(connection: Connection): boolean {
  const {
    mode,
    session: { state },
  } = connection
  const isQuiet =
    state.unmovable !== undefined ||
    isDrained(connection) ||
    (isOnlyBlocked(connection) && !isPartlySent(connection))
  if (isQuiet && mode === 'draining') connection.mode = 'held'
  return isQuiet
}

/** True if only its client delays it (unread replies, or part of a long request): others do not wait. */
export function isHeldUpByClient(connection: Connection): boolean {
  const { client, link } = connection
  if (link === null) return true
  if (client.writableNeedDrain) return !(mayReadOn(connection) && mayBeUnexecuted(link))
  return isPartlySent(connection) && isAnswered(link)
}

/** True if the engine may not have started a request; when demoted, it would refuse it. */
export function mayBeUnexecuted(link: Link): boolean {
  return link.sent - link.answered > (isBetweenReplies(link.replies) ? 0 : 1)
}

/**
 * Gives a quiet connection a link at `target`; `resume` serves it. If it cannot be moved or no engine is
 * found, closes it with an error.
 */
export async function moveConnection(connection: Connection, target: Target, untilMs: number): Promise<void> {
  if (connection.mode === 'closed') return
  const { unmovable } = connection.session.state
  if (unmovable !== undefined) {
    endConnection(connection, `ERR this connection cannot follow its database: ${unmovable.why}`)
    return
  }
  connection.mode = 'moving'
  try {
    if (connection.input.blocked && connection.session.again === null) await letGoOfBlocked(connection)
    // No message is published now: the old engine's last messages come before all of the new engine's.
    const [link] = await Promise.all([reach(connection, target, untilMs), takeLastMessages(connection)])
    await endLastMessage(connection)
    if (isClosed(connection)) return void link.socket.destroy()
    readAnew(connection)
    adopt(connection, link)
  } catch (cause) {
    const why = messageOf(cause)
    const trouble = `a connection could not be moved: ${why}`
    connection.owner.onError(trouble)
    endUnreached(connection, `LOADING the database cannot be reached: ${why}`, trouble)
  }
}

/** The former engine has part of a long request and never gets the rest; the next one gets all of it. */
function readAnew(connection: Connection): void {
  const {
    input: { part, requests, stash },
  } = connection
  if (part === null) return
  rewindRequest(requests)
  const chunks = takePart(connection)
  connection.input.stash = [...chunks, ...stash]
  for (const { length } of chunks) connection.input.stashBytes += length
}

/** Returns a link with the connection's complete state: the prepared one, if usable. */
async function reach(connection: Connection, target: Target, untilMs: number): Promise<Link> {
  const prepared = takePrepared(connection, target)
  if (prepared === null) return openLink(connection, target, untilMs)
  // Unknown when the link was prepared.
  prepared.generation = target.cursors.generation
  try {
    await completeLink(connection, prepared)
    return prepared
  } catch {
    return openLink(connection, target, untilMs)
  }
}

function isClosed({ mode }: Connection): boolean {
  return mode === 'closed'
}

/**
 * A demoted engine ends the command. If it does not, the proxy closes its side: then the engine either has
 * answered, or ends the link without an answer because it executed nothing.
 */
async function letGoOfBlocked(connection: Connection): Promise<void> {
  steerLink(connection)
  const isSettled = () =>
    connection.session.again !== null || !connection.input.blocked || connection.link === null
  await soon(isSettled, GIVE_UP_MS)
  if (isSettled()) return
  connection.move.takingBack = true
  connection.link?.socket.end()
  await soon(isSettled, GIVE_UP_MS)
  connection.move.takingBack = false
  if (!isSettled()) throw new Error('its blocking command was neither answered nor given up')
}

async function soon(check: () => boolean, withinMs: number): Promise<void> {
  for (const until = performance.now() + withinMs; !check() && performance.now() < until; ) await delay(2)
}

/** Sends an ended blocking command again, with the rest of its timeout. */
export function askAgain(connection: Connection): void {
  const {
    link,
    session: { again },
  } = connection
  if (again === null || link === null) return
  connection.session.again = null
  link.sent += 1
  takeDown(link, { ...noted(link, again.command), blocks: true, sinceMs: again.sinceMs })
  link.socket.write(encodeWithTimeLeft(again.command, performance.now() - again.sinceMs))
}

/** Serves the connection: stashed requests are forwarded first. */
export function resume(connection: Connection): void {
  if (connection.mode === 'closed') return
  connection.mode = 'serving'
  askAgain(connection)
  forwardStash(connection)
  steerClient(connection)
  steerLink(connection)
}

/** Ends a hold without a move. A connection without a link gets one at `target`. */
export async function releaseConnection(
  connection: Connection,
  target: Target,
  untilMs: number,
): Promise<void> {
  const {
    mode,
    link,
    session: { again },
  } = connection
  if (mode !== 'draining' && mode !== 'held') return
  if (link === null || again?.keepsLink === false) await moveConnection(connection, target, untilMs)
  else if (!isPartlySent(connection) && !isSilentlyOpen(connection)) restoreReplyOff(connection, link)
  resume(connection)
}
