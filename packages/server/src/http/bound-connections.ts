import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'

/** For the store, the agent, the proxy, engines, the operators' socket, and packages on their way. */
const RESERVED_FILES = 300
/** More are of no use to one machine, and each costs memory. */
export const MOST_USEFUL = 4_096
const SAY_AGAIN_MS = 60_000

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** How many connections the API may have with so many files: half of those that are not reserved. */
export function mostByFiles(files: number): number {
  return Math.max(16, Math.min(MOST_USEFUL, Math.floor((files - RESERVED_FILES) / 2)))
}

/** The limit of this process; Node has raised it as far as it may. */
export function readFileLimit(): number {
  const limits = readFileSync('/proc/self/limits', 'utf8')
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? 1_024)
}

/**
 * Bounds the connections of a server: a process without files reaches neither its agent nor its store. Beyond `most`, the oldest
 * connection for which there is nothing to do makes room for the one that comes: it has not sent a whole request, or
 * has been answered. Where all are being served, the one that comes is closed.
 */
export function boundConnections(
  server: Server,
  { most, log }: { readonly most: number; readonly log: Pick<Logger, 'warn'> },
): void {
  const open = new Map<Socket, Set<Exchange>>()
  /** Those that may make room, the oldest first. Some of them have sent a whole request since: they are taken out when they are met. */
  const waiting = new Set<Socket>()
  let saidAtMs = Number.NEGATIVE_INFINITY

  const say = () => {
    if (performance.now() - saidAtMs < SAY_AGAIN_MS) return
    saidAtMs = performance.now()
    log.warn(
      { most },
      'the API has as many connections as it may: the oldest without a whole request make room',
    )
  }
  const makeRoom = (): boolean => {
    for (const socket of waiting) {
      waiting.delete(socket)
      if (isServed(open.get(socket))) continue
      open.delete(socket)
      socket.destroy()
      return true
    }
    return false
  }
  const wait = (socket: Socket) => {
    if (open.has(socket)) waiting.add(socket)
  }

  server.on('connection', (socket: Socket) => {
    if (open.size >= most) {
      say()
      if (!makeRoom()) {
        socket.destroy()
        return
      }
    }
    open.set(socket, new Set())
    waiting.add(socket)
    socket.once('close', () => {
      open.delete(socket)
      waiting.delete(socket)
    })
  })
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    const exchanges = open.get(socket)
    if (exchanges === undefined) return
    const exchange = { request, response }
    exchanges.add(exchange)
    response.once('prefinish', () => wait(socket)) // all is said, and a client that does not read it can be let go
    response.once('close', () => {
      exchanges.delete(exchange)
      wait(socket)
    })
  })
}

/** Whether there is something to do for a client: a whole request of it is not answered yet. */
function isServed(exchanges: ReadonlySet<Exchange> | undefined): boolean {
  for (const { request, response } of exchanges ?? [])
    if (request.complete && !response.writableEnded) return true
  return false
}
