import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextRound, setTimeout as pause } from 'node:timers/promises'
import type { Connections } from './connections.ts'

/** Time for requests to end when a server stops. */
const END_WITHIN_MS = 10_000
/** Maximum pause within a begun request. */
const QUIET_MS = 1_000
/** Without requests on kept connections for this long, the others are idle. */
const IDLE_MS = 100
const FAREWELL_MS = 2_000

/**
 * Ends a stopping server's connections: those without data for a second and unanswered requests, and all
 * after ten seconds, since Node has no deadline. Resolves when none is open.
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
 * Waits until keep-alive clients know about the stop: answers now have `Connection: close`, and requests
 * between two answers would be lost. At most two seconds; then closes connections without any request.
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
    // After a busy period, first read what has arrived.
    for (let round = 0; round < 2; round += 1) await nextRound()
  }
  server.off('request', hear)
  for (const socket of connections.all()) if (socket.bytesRead === 0) socket.destroy()
  connections.refuse()
}
