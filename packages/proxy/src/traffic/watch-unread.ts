import type { Socket } from 'node:net'

/** How long a client that is not read any more may take none of its replies, in milliseconds. */
export const UNREAD_MS = 30_000

/** The last reply to such a client. Requests behind its last answered one were not executed. */
export const UNREAD =
  'ERR too many replies are pending for this client, which has read none of them for 30 s: the requests from here on are not executed. Read replies meanwhile, or send the pipeline in parts'

export type Unread = Pick<Socket, 'bytesWritten' | 'writableLength' | 'writableNeedDrain'>

/** Clients that are being watched. */
const watched = new WeakSet<Unread>()

/**
 * Calls `giveUp` when `client` takes no byte for 30 s while `isFull`, its requests are not read: it writes all of a pipeline
 * before it reads, and would wait for ever. Looks every 30 s until it is no longer full. Without effect while it is watched.
 */
export function watchUnread(client: Unread, isFull: () => boolean, giveUp: () => void): void {
  if (watched.has(client)) return
  watched.add(client)
  const look = (before: number) => {
    const taken = client.bytesWritten - client.writableLength
    if (!isFull()) return void watched.delete(client)
    // Not the client's fault: the engine owes the replies. Nothing tells when the client stops to take them.
    if (!client.writableNeedDrain || taken !== before) return begin(taken)
    watched.delete(client)
    giveUp()
  }
  const begin = (taken: number) => void setTimeout(look, UNREAD_MS, taken).unref()
  begin(client.bytesWritten - client.writableLength)
}

/** Ends a client that was given up. It may still be writing: if the socket was closed, replies that it has not read would be lost. */
export function endUnread(client: Pick<Socket, 'destroy' | 'end' | 'setTimeout'>): void {
  client.end()
  client.setTimeout(UNREAD_MS, () => client.destroy())
}
