import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'

/** Reserved for the store, agent, proxy, engines, the operators' socket, and uploads. */
const RESERVED_FILES = 300
/** One machine needs no more, and each costs memory. */
export const MOST_USEFUL = 4_096
const WARN_EVERY_MS = 60_000

/** The connections of an HTTP server, also over TLS. */
export interface Connections {
  /** All open connections, the oldest first. */
  all(): Iterable<Socket>
  /** Returns whether a complete request on it is unanswered. */
  isBusy(socket: Socket): boolean
  /** Counts a connection before its TLS handshake. Call the result once the secured one is known. */
  add(socket: Socket): () => void
  /** Closes each new connection from now on. */
  refuse(): void
}

type Exchange = readonly [request: IncomingMessage, response: ServerResponse]

/** Returns the number of API connections for a file limit: half of the unreserved files. */
export function mostByFiles(files: number): number {
  return Math.max(16, Math.min(MOST_USEFUL, Math.floor((files - RESERVED_FILES) / 2)))
}

/** Reads this process's file limit; Node has raised the soft one. */
export function readFileLimit(): number {
  const limits = readFileSync('/proc/self/limits', 'utf8')
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? 1_024)
}

/** Watches connections. Over `most`, closes the oldest one without a complete request. */
export function watchConnections(
  server: Server,
  { most, log }: { readonly most: number; readonly log: Pick<Logger, 'warn'> },
): Connections {
  const open = new Map<Socket, Set<Exchange>>()
  const isBusy = (socket: Socket) =>
    [...(open.get(socket) ?? [])].some(([request, response]) => request.complete && !response.writableEnded)
  let warnedAtMs = Number.NEGATIVE_INFINITY
  const evict = () => {
    for (const socket of open.keys()) {
      if (isBusy(socket)) continue
      open.delete(socket)
      socket.destroy()
      break
    }
    if (performance.now() - warnedAtMs < WARN_EVERY_MS) return
    warnedAtMs = performance.now()
    log.warn({ most }, 'the API has reached its limit of connections: the oldest idle ones are closed')
  }
  let isRefusing = false
  const add = (socket: Socket) => {
    const leave = () => void open.delete(socket)
    if (isRefusing) socket.destroy()
    else open.set(socket, new Set())
    socket.once('close', leave)
    if (open.size > most) evict()
    return leave
  }
  server.on('connection', add)
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const exchanges = open.get(request.socket)
    const exchange: Exchange = [request, response]
    exchanges?.add(exchange)
    response.once('close', () => exchanges?.delete(exchange))
  })
  return {
    isBusy,
    add,
    all: () => open.keys(),
    refuse() {
      isRefusing = true
    },
  }
}
