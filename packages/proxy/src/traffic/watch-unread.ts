import type { Socket } from 'node:net'

/** How long a client with the most pending replies may take none of them, in milliseconds. */
export const UNREAD_MS = 30_000

/** The last reply to such a client. Requests behind its last answered one were not executed. */
export const UNREAD =
  'ERR too many replies are pending for this client, which has read none of them for 30 s: the requests from here on are not executed. Read replies meanwhile, or send the pipeline in parts'

export type Unread = Pick<Socket, 'bytesWritten' | 'writableLength' | 'writableNeedDrain'>

/** Clients that are being watched. */
const watched = new WeakSet<Unread>()

/**
 * Calls `giveUp` when `client` takes no byte for 30 s while `isFull`: it writes all of a pipeline before it reads, and
 * would wait for ever. Without effect while it is watched already, or reads.
 */
export function watchUnread(client: Unread, isFull: () => boolean, giveUp: () => void): void {
  if (watched.has(client) || !client.writableNeedDrain) return
  watched.add(client)
  const look = (before: number) => {
    const taken = client.bytesWritten - client.writableLength
    const isStuck = client.writableNeedDrain && isFull()
    if (isStuck && taken !== before) return begin(taken)
    watched.delete(client)
    if (isStuck) giveUp()
  }
  const begin = (taken: number) => void setTimeout(look, UNREAD_MS, taken).unref()
  begin(client.bytesWritten - client.writableLength)
}
