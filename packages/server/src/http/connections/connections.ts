import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextRound, setTimeout as pause } from 'node:timers/promises'
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

/** Time for requests to end when a server stops, after the farewell: ten seconds in all. */
const END_WITHIN_MS = 8_000
/** Maximum pause within a begun request. */
const QUIET_MS = 1_000
/** Without requests on kept connections for this long, the others are idle. */
const IDLE_MS = 100
const FAREWELL_MS = 2_000

/**
 * Ends a stopping server's connections: those without data for a second and unanswered requests, and all
 * after eight seconds, since Node has no deadline. Resolves when none is open.
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
