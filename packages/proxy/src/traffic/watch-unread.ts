import type { Socket } from 'node:net'

/** How long a client that is not read any more may take none of its replies, in milliseconds. */
export const UNREAD_MS = 30_000

/** The last reply to such a client. Requests behind its last answered one were not executed. */
export const UNREAD =
  'ERR too many replies are pending for this client, which has read none of them for 30 s: the requests from here on are not executed. Read replies meanwhile, or send the pipeline in parts'

/** The least that a client takes of one long reply in 30 s. A reply counts only when all of it is taken. */
const LEAST_TAKEN_BYTES = 3_000_000

export type Unread = Pick<
  Socket,
  'bytesWritten' | 'destroyed' | 'isPaused' | 'writableLength' | 'writableNeedDrain'
>

/** Clients that are being watched. */
const watched = new WeakSet<Unread>()

/**
 * Calls `giveUp` when a paused `client` takes no byte for 30 s: it writes all of a pipeline before it reads,
 * and would wait for ever. Looks every 30 s until the client is read again or closed. Never calls it while
 * `isExcused`, and does nothing if the client is watched.
 */
export function watchUnread(client: Unread, isExcused: () => boolean, giveUp: () => void): void {
  if (watched.has(client)) return
  watched.add(client)
  const look = (before: number, looks: number) => {
    const taken = client.bytesWritten - client.writableLength
    const isIdle = client.writableNeedDrain && taken === before && !isExcused()
    if (client.destroyed || !client.isPaused()) watched.delete(client)
    else if (!isIdle) begin(taken, 1)
    else if (looks * LEAST_TAKEN_BYTES < client.writableLength) begin(taken, looks + 1)
    else {
      watched.delete(client)
      giveUp()
    }
  }
  const begin = (taken: number, looks: number) => void setTimeout(look, UNREAD_MS, taken, looks).unref()
  begin(client.bytesWritten - client.writableLength, 1)
}

/** Ends a client that was given up. It may still be writing: closing the socket would lose unread replies. */
export function endUnread(client: Pick<Socket, 'destroy' | 'end' | 'setTimeout'>): void {
  client.end()
  client.setTimeout(UNREAD_MS, () => client.destroy())
}
