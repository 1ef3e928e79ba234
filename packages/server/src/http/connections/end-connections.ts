import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextRound, setTimeout as pause } from 'node:timers/promises'
import type { Connections } from './connections.ts'

/** When a server stops, requests have this long to end. */
const END_WITHIN_MS = 10_000
/** The rest of a request that has begun comes within this time. */
const QUIET_MS = 1_000
/** When no kept connection has asked anything for this long, the others are idle. */
const IDLE_MS = 100
const FAREWELL_MS = 2_000

/**
 * Ends the connections of a server that stops. Closes each one that has sent nothing for a second and whose requests are answered,
 * and after ten seconds all of them: Node applies no deadline to a server that closes. Resolves when none is left.
 */
export async function endConnections(connections: Connections, withinMs = END_WITHIN_MS): Promise<void> {
  const deadline = performance.now() + withinMs
  const bytes = new WeakMap<Socket, number>()
  const ended = [...connections.all()].map(
    (socket) => new Promise((resolve) => socket.once('close', resolve)),
  )
  const closeQuiet = () => {
    const isLate = performance.now() >= deadline
    for (const socket of connections.all()) {
      const isQuiet = bytes.get(socket) === socket.bytesRead && !connections.isBusy(socket)
      if (isLate || isQuiet) socket.destroy()
      bytes.set(socket, socket.bytesRead)
    }
  }
  closeQuiet()
  const looking = setInterval(closeQuiet, QUIET_MS)
  await Promise.all(ended)
  clearInterval(looking)
}

/**
 * Waits until clients that keep a connection know that the server stops: each answer has `Connection: close` by now, and a request sent
 * on a connection that is closed between two answers would be lost. Takes two seconds at most; then closes connections that never asked.
 */
export async function sayFarewell(server: Server, connections: Connections): Promise<void> {
  const untold = new Set(connections.all())
  let news = 0
  const hear = ({ socket }: { readonly socket: Socket }) => {
    if (untold.delete(socket)) news += 1
  }
  server.on('request', hear)
  const began = performance.now()
  for (let before = -1; before < news && untold.size > 0 && performance.now() - began < FAREWELL_MS; ) {
    before = news
    await pause(IDLE_MS)
    // When this thread was busy, first read what has arrived.
    for (let round = 0; round < 2; round += 1) await nextRound()
  }
  server.off('request', hear)
  for (const socket of connections.all()) if (socket.bytesRead === 0) socket.destroy()
  connections.refuse()
}
