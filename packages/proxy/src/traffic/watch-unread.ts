import type { Socket } from 'node:net'

/** Longest time (ms) without reading for a paused client. */
export const UNREAD_MS = 30_000

/** Last reply to such a client. Requests after its last answered one were not executed. */
export const UNREAD =
  'ERR too many replies are pending for this client, which has read none of them for 30 s: the requests from here on are not executed. Read replies meanwhile, or send the pipeline in parts'

/** Minimum read of one long reply in 30 s. A reply counts only when all of it is read. */
const LEAST_TAKEN_BYTES = 3_000_000

export type Unread = Pick<
  Socket,
  'bytesWritten' | 'destroyed' | 'isPaused' | 'writableLength' | 'writableNeedDrain'
>

/** Clients that are being watched. */
const watched = new WeakSet<Unread>()

/**
 * Calls `giveUp` when a paused `client` reads no byte for 30 s: it writes its whole pipeline before it reads,
 * and would wait forever. Checks every 30 s until the client is read again or closed; never calls it while
 * `isExcused`. Does nothing if the client is already watched.
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
