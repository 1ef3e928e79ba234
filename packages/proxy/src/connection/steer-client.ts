import { forgetListed } from '../traffic/listed-bytes.ts'
import { UNREAD, watchUnread } from '../traffic/watch-unread.ts'
import { MOST_ASIDE_BYTES } from './allowance.ts'
import type { Connection } from './connection.ts'
import { mayKeepEarly } from './kept-early.ts'
import type { Link } from './link.ts'
import { hasManyPendingReplies } from './noted.ts'

/** Limit of stashed bytes while nothing can be forwarded; above it the socket is paused. */
const LARGEST_STASH_BYTES = 64 * 1024

/** Limit of last messages kept for one client that does not read: the engines' default for a subscriber. */
export const LARGEST_LATE_BYTES = 32 * 1024 * 1024
/** Limit for all clients of a thread, across endpoints. */
const MOST_LATE_BYTES = 128 * 1024 * 1024
/** Guaranteed to each client, even at the thread's limit. */
const SMALL_LATE_BYTES = 64 * 1024
const late = { bytes: 0 }

/** Keeps bytes of a client until they may be forwarded. Pauses the client if there are too many. */
export function stash(connection: Connection, bytes: Buffer): void {
  if (bytes.length === 0) return
  connection.input.stash.push(bytes)
  connection.input.stashBytes += bytes.length
  steerClient(connection)
  connection.owner.onWaiting(connection)
}

/** Reads from the client while its requests can be forwarded or kept. */
export function steerClient(connection: Connection): void {
  const {
    client,
    link,
    input: { stashBytes, yielded, lastError },
  } = connection
  if (lastError !== null) return
  const isFull =
    stashBytes > (yielded ? MOST_ASIDE_BYTES : LARGEST_STASH_BYTES) ||
    link?.socket.writableNeedDrain === true ||
    (link !== null && hasManyPendingReplies(connection, link))
  if (isFull !== client.isPaused()) isFull ? client.pause() : client.resume()
}

/** If a paused client reads no reply for too long, drops its requests so that its socket is read again. */
export function watchUnreadReplies(connection: Connection): void {
  const { client } = connection
  const isExcused = () => connection.mode === 'closed' || connection.link?.socket.writableNeedDrain === true
  watchUnread(client, isExcused, () => {
    connection.input.lastError = UNREAD
    connection.input.stash = []
    connection.input.stashBytes = 0
    client.resume()
  })
}

/**
 * Reads from the engine while the client reads its replies; an engine's last messages are read in any case.
 */
export function steerLink(connection: Connection): void {
  const { client, link, session } = connection
  if (!client.writableNeedDrain) {
    forgetLate(connection)
    if (session.found === null && session.listedBytes > 0) forgetListed(session)
  }
  if (link === null) return
  const isUnread = client.writableNeedDrain && !mayReadOn(connection)
  const isFull = isUnread || (link.unread?.length ?? 0) > MOST_ASIDE_BYTES
  if (isFull !== link.socket.isPaused()) isFull ? link.socket.pause() : link.socket.resume()
}

/** Passes bytes on to the client. Bytes of a link under preparation wait in the link. */
export function sendToClient(connection: Connection, link: Link | null, bytes: Buffer): void {
  if (bytes.length === 0) return
  if (link?.early) {
    if (mayKeepEarly(link, bytes.length)) link.early.push(bytes)
  } else if (!connection.client.write(bytes)) {
    countLate(connection, bytes.length)
    if (!mayReadOn(connection)) link?.socket.pause()
  }
}

/** Counts bytes for a client that does not read, while the last messages of its former engine are read. */
function countLate(connection: Connection, bytes: number): void {
  if (connection.move.readsOn === 0) return
  connection.move.lateBytes += bytes
  late.bytes += bytes
}

/** True if the engine is read although the client does not read. */
export function mayReadOn({ move: { readsOn, lateBytes } }: Connection): boolean {
  if (readsOn === 0) return false
  return lateBytes <= SMALL_LATE_BYTES || (lateBytes <= LARGEST_LATE_BYTES && late.bytes <= MOST_LATE_BYTES)
}

/** Called when the client has read everything, or is gone. */
export function forgetLate(connection: Connection): void {
  late.bytes -= connection.move.lateBytes
  connection.move.lateBytes = 0
}
