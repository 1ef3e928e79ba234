import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** When a server stops, requests have this long to end. */
export const END_WITHIN_MS = 10_000
/** A request that is on its way goes on within this time. */
const QUIET_MS = 1_000

/**
 * Node looks at no deadline of a server that closes, and waits for each connection: one with half of a request, or with nothing, would keep it for ever. The
 * function that is returned is called when `server` begins to close. From then on a connection is closed if for a second nothing has come on it and no whole request is being answered; after
 * ten seconds, each is. Connections over TLS count when they are handed to `server`.
 */
export function endConnections(
  server: Server,
  isBusy: (socket: Socket) => boolean = noteRequests(server),
  withinMs = END_WITHIN_MS,
): () => void {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return () => {
    const stopLooking = closeQuiet(() => open, isBusy)
    const late = setTimeout(() => {
      for (const socket of open) socket.destroy()
    }, withinMs)
    server.once('close', () => {
      stopLooking()
      clearTimeout(late)
    })
  }
}

/** Closes each connection, now and later, on which nothing has come for a second and that is not busy. Returns what ends this. */
export function closeQuiet(
  connections: () => Iterable<Socket>,
  isBusy: (socket: Socket) => boolean,
): () => void {
  const bytes = new WeakMap([...connections()].map((socket) => [socket, socket.bytesRead]))
  const looking = setInterval(() => {
    for (const socket of connections()) {
      if (!isBusy(socket) && bytes.get(socket) === socket.bytesRead) socket.destroy()
      bytes.set(socket, socket.bytesRead)
    }
  }, QUIET_MS)
  return () => clearInterval(looking)
}

/** Notes each request until it has been answered: for a server whose connections are not bounded, where that is noted anyway. */
function noteRequests(server: Server): (socket: Socket) => boolean {
  const answering = new Map<Socket, IncomingMessage>()
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    answering.set(socket, request)
    response.on('close', () => {
      if (answering.get(socket) === request) answering.delete(socket)
    })
  })
  return (socket) => answering.get(socket)?.complete === true
}
