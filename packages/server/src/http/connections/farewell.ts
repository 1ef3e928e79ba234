import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextRound, setTimeout as pause } from 'node:timers/promises'

/** So long no connection that is kept has asked anything: the others are idle, and may be closed. */
const QUIET_MS = 100
const AT_MOST_MS = 2_000

/**
 * While a server stops, each answer over HTTP/1.1 says `Connection: close`. A client that asks all the time hears so with its next answer, if it is still answered; closed between
 * two answers, its next request would be lost. The function that is returned resolves when those that ask have heard it, after two seconds at most; at once where there is
 * no connection. Connections on which nothing has come are closed then. Connections over TLS count when they are handed to `server`.
 */
export function prepareFarewell(server: Server): () => Promise<void> {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return async () => {
    // What comes in from now on hears it with its first answer.
    const untold = new Set(open)
    let news = 0
    const hear = ({ socket }: { readonly socket: Socket }) => {
      if (untold.delete(socket)) news += 1
    }
    server.on('request', hear)
    const began = performance.now()
    for (let before = -1; before < news && untold.size > 0 && performance.now() - began < AT_MOST_MS; ) {
      before = news
      await pause(QUIET_MS)
      // Where this thread had no time, what came meanwhile is read first.
      for (let round = 0; round < 2; round += 1) await nextRound()
    }
    server.off('request', hear)
    // To Node those on which nothing has come are not idle: it would wait for their first request. A new one is as one that found no server.
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
    server.on('connection', (socket: Socket) => socket.destroy())
  }
}
