import { MOST_ASIDE_BYTES } from './allowance.ts'
import type { Connection } from './connection.ts'
import { mayKeepEarly } from './kept-early.ts'
import type { Link } from './link.ts'
import { hasManyPendingReplies } from './noted.ts'

/** How much a client may send ahead while nothing can be forwarded; beyond this its socket is not read. */
const LARGEST_STASH_BYTES = 64 * 1024

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
  const { client, link, stashBytes, yielded } = connection
  const isFull =
    stashBytes > (yielded ? MOST_ASIDE_BYTES : LARGEST_STASH_BYTES) ||
    (link !== null && (link.socket.writableNeedDrain || hasManyPendingReplies(connection, link)))
  if (isFull !== client.isPaused()) isFull ? client.pause() : client.resume()
}

/** Reads from the engine as long as the client reads its replies. */
export function steerLink({ client, link }: Connection): void {
  if (link === null) return
  const isFull = client.writableNeedDrain || (link.unread?.length ?? 0) > MOST_ASIDE_BYTES
  if (isFull !== link.socket.isPaused()) isFull ? link.socket.pause() : link.socket.resume()
}

/** Passes bytes on to the client; those of a link that is not the connection's yet wait in it. */
export function sendToClient(connection: Connection, link: Link | null, bytes: Buffer): void {
  if (bytes.length === 0) return
  if (link?.early) {
    if (mayKeepEarly(link, bytes.length)) link.early.push(bytes)
  } else if (!connection.client.write(bytes)) link?.socket.pause()
}
