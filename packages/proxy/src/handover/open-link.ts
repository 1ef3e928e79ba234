import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { codeOf, connectToOwn } from '@fairlead/engine'
import { cachingNow } from '../connection/client-caching.ts'
import type { Connection } from '../connection/connection.ts'
import { askForLogin } from '../connection/judge-login.ts'
import { forgetEarly } from '../connection/kept-early.ts'
import { createLink, type Link } from '../connection/link.ts'
import { forgetNoted } from '../connection/noted.ts'
import { sendOwn } from '../connection/send-own.ts'
import { answeredState, reopenSilently } from '../connection/silent-transactions.ts'
import { sendToClient, steerClient } from '../connection/steer-client.ts'
import { readInto, type Take } from '../forwarding/read-into.ts'
import { takeEnd } from '../forwarding/take-end.ts'
import { setRepliesAside, takeReplies } from '../forwarding/take-replies.ts'
import { beginTurn, endTurn, runInSlice } from '../forwarding/turns.ts'
import { during } from '../heartbeat/breadcrumb.ts'
import { addressText, localAddress } from '../listen/address-text.ts'
import { isSubscribed } from '../remembered/connection-state.ts'
import { baseReplayOf, type Replayed, replayOf, restReplayOf } from '../remembered/replay.ts'
import { awakeTimer } from './awake-timer.ts'
import type { CursorsNow } from './cursors-now.ts'

/** Address of an engine. `tls`: certificates to trust; null for plain connections. */
export interface Place {
  readonly host: string
  readonly port: number
  readonly tls: { readonly ca: string } | null
}

/** An engine to open links to. */
export interface Target extends Place {
  readonly cursors: CursorsNow
}

/** The deadline of a question has passed. The engine may be late, or this process has stalled. */
export class NotInTime extends Error {}

const TRY_AGAIN_MS = 20
/** Node's timers may be early by 1 ms; this is more. */
const EARLY_MS = 2
/** Longest time of an engine to set a connection's state. */
const REPLAY_MS = 2_000

/**
 * Opens a link for `connection` at an engine and sets the connection's state there (`commandsOf`). Retries
 * until `untilMs` (performance.now), then throws the last error. Messages of the engine wait in the link
 * (`adopt`).
 */
export async function openLink(
  connection: Connection,
  target: Target,
  untilMs: number,
  commandsOf: typeof replayOf = replayOf,
): Promise<Link> {
  const { crumb } = connection.visitor
  const { allowance } = connection.owner
  let take = takeNothing
  const socket = await connectUntil(connection, target, untilMs, (bytes) => take(bytes))
  const link = createLink(
    socket,
    { address: localAddress(socket), shard: addressText(target) },
    target.cursors.generation,
  )
  link.early = []
  // Otherwise Node closes the socket when the engine's side ends.
  socket.allowHalfOpen = true
  take = (bytes) => {
    if (!beginTurn(allowance, 'takes replies for', crumb, bytes.length)) {
      setRepliesAside(connection, link, bytes)
      return
    }
    takeReplies(connection, link, bytes)
    endTurn(allowance)
  }
  link.socket.on('end', () => endInTurn(connection, link))
  link.socket.on('close', () => {
    forgetEarly(link)
    forgetNoted(link)
    endInTurn(connection, link)
  })
  link.socket.on('drain', () => steerClient(connection))
  await during('makes an engine remember what is known of', crumb, () =>
    replay(connection, link, commandsOf(answeredState(connection), link.generation, cachingOf(connection))),
  )
  return link
}

/**
 * A dying engine ends thousands of links at the same time, and closing a socket takes 30 µs: served links
 * wait for their turn. Held or moving connections wait for the end of their links, so those are closed
 * immediately.
 */
function endInTurn(connection: Connection, link: Link): void {
  const { mode, owner, visitor } = connection
  const end = () => {
    takeEnd(connection, link)
    link.socket.destroy()
  }
  if (connection.link !== link || mode !== 'serving') end()
  else runInSlice(owner.allowance, 'ends the connection of', visitor.crumb, end)
}

/** Opens a link at the future primary, with the state that can be set beforehand. Throws like openLink. */
export function openAhead(connection: Connection, target: Target, untilMs: number): Promise<Link> {
  return openLink(connection, target, untilMs, baseReplayOf)
}

/** Sets the rest of the state on a link opened ahead. On an error, closes the link and throws. */
export async function completeLink(connection: Connection, link: Link): Promise<void> {
  const rest = restReplayOf(answeredState(connection), link.generation, cachingOf(connection))
  if (rest.length === 0) return
  link.socket.resume()
  await replay(connection, link, rest)
}

/** Makes the connection use `link`; closes its former link. */
export function adopt(connection: Connection, link: Link): void {
  const {
    link: old,
    session: { state },
  } = connection
  const caching = cachingNow(connection)
  connection.session.caching = caching && { ...caching, link, at: link.sent }
  connection.link = link
  connection.login.after = 0
  connection.via = link.via
  // Its later messages would come after those of the new engine, which sends them too.
  if (old !== null) {
    old.unread = null
    closeLater(old)
  }
  const early = link.early ?? []
  link.early = null
  forgetEarly(link)
  if (state.watches) {
    connection.session.state = { ...state, watches: false }
    connection.session.watchLost = true
  }
  // The new engine does not know which keys this client has cached, so it could not report their changes.
  if (state.tracking.length > 0 && state.protocol === 3) sendToClient(connection, link, everythingChanged)
  for (const bytes of early) sendToClient(connection, link, bytes)
  reopenSilently(connection, link)
  askForLogin(connection, link)
  if (!connection.client.writableNeedDrain && link.unread === null) link.socket.resume()
}

/** Closing takes 40 µs, half of a move: the moves of other clients come first. */
const CLOSE_AFTER_MS = 20
/** Links closed in one round of the event loop. */
const CLOSED_AT_ONCE = 16
const unused: Link[] = []

/** Reads nothing more from a former link, and closes it soon. */
function closeLater(link: Link): void {
  link.socket.pause()
  if (unused.push(link) === 1) setTimeout(closeSome, CLOSE_AFTER_MS)
}

function closeSome(): void {
  for (const { socket } of unused.splice(0, CLOSED_AT_ONCE)) socket.destroy()
  if (unused.length > 0) setImmediate(closeSome)
}

const everythingChanged = Buffer.from('>2\r\n$10\r\ninvalidate\r\n_\r\n')

/** An engine that sends something before the first request refuses the connection, and closes it. */
const takeNothing: Take = () => undefined

/** Returns an open socket. Retries until `untilMs` (performance.now), then throws the last error. */
export async function connectUntil(
  connection: Pick<Connection, 'mode'>,
  target: Target,
  untilMs: number,
  take: Take,
): Promise<Socket> {
  let before: unknown
  for (;;) {
    try {
      return mustBeOpen(await connectOnce(target, untilMs, take), target)
    } catch (cause) {
      // If the deadline ends the last attempt, the error of the attempt before is more useful.
      if (before !== undefined && performance.now() + EARLY_MS >= untilMs) throw before
      before = cause
      if (codeOf(cause) === 'ECONNREFUSED') target.cursors.hasEnded()
      if (connection.mode === 'closed' || performance.now() + TRY_AGAIN_MS > untilMs) throw cause
      await delay(TRY_AGAIN_MS)
    }
  }
}

/**
 * The check of the engine's user takes time. A socket that ends during it reports that only once: a request
 * on it would wait forever.
 */
function mustBeOpen(socket: Socket, target: Place): Socket {
  if (!socket.destroyed && !socket.readableEnded) return socket
  socket.destroy()
  throw new Error(`${addressText(target)} closed the connection`)
}

/**
 * Opens a socket to `target`; `take` gets its bytes. On this machine it must belong to a process of the right
 * user (connectToOwn), because it gets clients' passwords. Throws the error, or NotInTime at `untilMs`
 * (performance.now); the socket may have ended again on return.
 */
export async function connectOnce(target: Place, untilMs: number, take: Take): Promise<Socket> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const opened: Socket[] = []
  let isLate = false
  using _ = awakeTimer(Math.max(1, untilMs - performance.now()), () => {
    isLate = true
    for (const socket of opened) socket.destroy()
    reject(new NotInTime(`no connection to ${addressText(target)} in time`))
  })
  const connecting = connectToOwn(
    target,
    () => {
      // The check took too long: its result is not needed any more.
      if (isLate) return late
      const socket = openSocket(target, take)
      opened.push(socket)
      return untilOpen(socket, target)
    },
    (socket) => void socket.destroy(),
  )
  return await Promise.race([connecting, late])
}

function openSocket({ host, port, tls }: Place, take: Take): Socket {
  // The certificate chain is checked, the name is not: shards are known by address.
  const socket =
    tls === null
      ? connect({ host, port, noDelay: true, keepAlive: true, onread: readInto(take) })
      : connectTls({ host, port, ca: tls.ca, checkServerIdentity: () => undefined })
  if (tls !== null) socket.setNoDelay(true).on('data', take)
  return socket
}

async function untilOpen(socket: Socket, { host, port, tls }: Place): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const isOpen = () => resolve(socket)
  const isClosed = () => reject(new Error(`${host}:${port} closed the connection`))
  const opens = tls === null ? 'connect' : 'secureConnect'
  socket.once(opens, isOpen).once('error', reject).once('close', isClosed)
  try {
    return await promise
  } catch (cause) {
    socket.destroy()
    throw cause
  } finally {
    // Thousands of links stay open for days, so the listeners of their opening are removed.
    socket.on('error', closesItself).off(opens, isOpen).off('error', reject).off('close', isClosed)
  }
}

/** Only the close that follows a socket's error counts. */
const closesItself = () => undefined

function cachingOf(connection: Connection): readonly Buffer[] | null {
  return cachingNow(connection)?.args ?? null
}

/** Later bytes wait in the kernel until the connection uses the link. */
async function replay(
  { session: { state } }: Connection,
  link: Link,
  commands: readonly Replayed[],
): Promise<void> {
  link.replies.keepWord = isSubscribed(state)
  try {
    if (commands.length > 0)
      await ownAnswered(link, REPLAY_MS, () => {
        for (const { bytes, replies, must } of commands) sendOwn(link, bytes, replies, must)
      })
  } catch (cause) {
    link.socket.destroy()
    throw cause
  }
  link.socket.pause()
}

/** Calls `send`, then waits until no request of the proxy is pending. Throws the engine's refusal. */
export async function ownAnswered(link: Link, withinMs: number, send: () => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  using _ = awakeTimer(withinMs, () => reject(new Error('the engine gave no answer in time')))
  link.onOwnAnswered = (trouble) => (trouble === undefined ? resolve() : reject(new Error(trouble)))
  try {
    send()
    await promise
  } finally {
    link.onOwnAnswered = null
  }
}
