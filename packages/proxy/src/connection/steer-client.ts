import { UNREAD, watchUnread } from '../traffic/watch-unread.ts'
import { MOST_ASIDE_BYTES } from './allowance.ts'
import type { Connection } from './connection.ts'
import { mayKeepEarly } from './kept-early.ts'
import type { Link } from './link.ts'
import { hasManyPendingReplies } from './noted.ts'

/** How much a client may send ahead while nothing can be forwarded; beyond this its socket is not read. */
const LARGEST_STASH_BYTES = 64 * 1024

/** The most bytes of last messages that are kept for one client that does not read: as much as engines keep for a subscriber by default. */
export const LARGEST_LATE_BYTES = 32 * 1024 * 1024
/** The same for all clients of a thread, whichever endpoint they belong to. */
const MOST_LATE_BYTES = 128 * 1024 * 1024
/** Each client may always have this much, even if the thread's limit is reached. */
const SMALL_LATE_BYTES = 64 * 1024
const late = { bytes: 0 }

/** Keeps bytes of a client until they may be forwarded; the client is not read while there are too many. */
export function stash(connection: Connection, bytes: Buffer): void {
  if (bytes.length === 0) return
  connection.stash.push(bytes)
  connection.stashBytes += bytes.length
  steerClient(connection)
  connection.owner.onWaiting(connection)
}

/** Reads from the client as long as its requests can be forwarded or kept. */
export function steerClient(connection: Connection): void {
  const { client, link, stashBytes, yielded, lastError } = connection
  if (lastError !== null) return
  const isFull =
    stashBytes > (yielded ? MOST_ASIDE_BYTES : LARGEST_STASH_BYTES) ||
    link?.socket.writableNeedDrain === true ||
    (link !== null && hasManyPendingReplies(connection, link))
  if (isFull !== client.isPaused()) isFull ? client.pause() : client.resume()
}

/** Drops what a paused client sends if it reads no reply for too long, so that it begins to read. */
export function watchUnreadReplies(connection: Connection): void {
  const { client } = connection
  const isExcused = () => connection.mode === 'closed' || connection.link?.socket.writableNeedDrain === true
  watchUnread(client, isExcused, () => {
    connection.lastError = UNREAD
    connection.stash = []
    connection.stashBytes = 0
    client.resume()
  })
}

/** Reads from the engine as long as the client reads its replies, and the last messages of an engine also if the client does not. */
export function steerLink(connection: Connection): void {
  const { client, link } = connection
  if (!client.writableNeedDrain) forgetLate(connection)
  if (link === null) return
  const isUnread = client.writableNeedDrain && !mayReadOn(connection)
  const isFull = isUnread || (link.unread?.length ?? 0) > MOST_ASIDE_BYTES
  if (isFull !== link.socket.isPaused()) isFull ? link.socket.pause() : link.socket.resume()
}

/** Passes bytes on to the client; those of a link that is not the connection's yet wait in it. */
export function sendToClient(connection: Connection, link: Link | null, bytes: Buffer): void {
  if (bytes.length === 0) return
  if (link?.early) {
    if (mayKeepEarly(link, bytes.length)) link.early.push(bytes)
  } else if (!connection.client.write(bytes)) {
    countLate(connection, bytes.length)
    if (!mayReadOn(connection)) link?.socket.pause()
  }
}

/** Counts bytes that were passed on to a client that does not read, while the last messages of its former engine are taken. */
function countLate(connection: Connection, bytes: number): void {
  if (connection.readsOn === 0) return
  connection.lateBytes += bytes
  late.bytes += bytes
}

/** Whether the engine is read on although the client does not read. */
export function mayReadOn({ readsOn, lateBytes }: Connection): boolean {
  if (readsOn === 0) return false
  return lateBytes <= SMALL_LATE_BYTES || (lateBytes <= LARGEST_LATE_BYTES && late.bytes <= MOST_LATE_BYTES)
}

/** The client has read what was passed on, or is gone. */
export function forgetLate(connection: Connection): void {
  late.bytes -= connection.lateBytes
  connection.lateBytes = 0
}
