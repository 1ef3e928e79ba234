import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { addressSource } from '../../identity/sessions/sources.ts'
import { createConnectionRegistry } from './connection-registry.ts'

/** For the store, the agent, the proxy, engines, the operators' socket, and packages on their way. */
const RESERVED_FILES = 300
/** More are of no use to one machine, and each costs memory. */
export const MOST_USEFUL = 4_096
const SAY_AGAIN_MS = 60_000

/** A request, and its answer: of HTTP/1.1 or of HTTP/2. */
export interface Exchange {
  readonly request: { readonly complete: boolean }
  readonly response: { readonly writableEnded: boolean }
}

/** A connection. `whose`: the source it comes from or, once it is known, the user. */
interface OpenConnection {
  readonly whose: string
  readonly isKnown: boolean
  readonly exchanges: Set<Exchange>
  readonly onKnown?: (() => void) | undefined
}

/** How many connections the API may have with this many files: half of those that are not reserved. */
export function mostByFiles(files: number): number {
  return Math.max(16, Math.min(MOST_USEFUL, Math.floor((files - RESERVED_FILES) / 2)))
}

/** The limit of this process; Node has raised the soft limit to the hard limit. */
export function readFileLimit(): number {
  const limits = readFileSync('/proc/self/limits', 'utf8')
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? 1_024)
}

/** How many connections there may be, by what is known of them. */
export interface ConnectionLimits {
  readonly most: number
  /** Of those on which no user has signed in: the others keep their places. */
  readonly mostStrangers: number
  /** The same from one source. Other sources are to have some. */
  readonly mostOfSource: number
}

/** Three quarters of all for strangers, two thirds of these for one source. */
export function connectionLimits(most: number): ConnectionLimits {
  const mostStrangers = Math.ceil((3 * most) / 4)
  return { most, mostStrangers, mostOfSource: Math.ceil((2 * mostStrangers) / 3) }
}

/** The events that the bounds must be told of. */
export interface ConnectionBounds {
  /** A request of this user, who has signed in, has come on a connection. */
  readonly signedIn: (socket: Socket, userUid: number) => void
  /** Whether such a request has come on it, so far. */
  readonly isKnown: (socket: Socket) => boolean
  /** Whether a whole request has come on it that is not answered yet. */
  readonly isBusy: (socket: Socket) => boolean
  /** A request has come on a connection of another listener; `response` says when it has been answered. */
  readonly note: (socket: Socket, exchange: Exchange, response: ServerResponse) => void
  /** The source of a connection, as it is counted here. */
  readonly sourceOf: (socket: Socket) => string
  /** A connection has come at another listener. False: there was no place for it, and it is closed. */
  readonly admit: (socket: Socket) => boolean
  /**
   * From now on this stands for an admitted connection: its handshake is over. False: it has lost its place meanwhile. `onKnown` is called when the
   * first request of a user comes on it.
   */
  readonly handOver: (admitted: Socket, secured: Socket, onKnown?: () => void) => boolean
}

/**
 * Bounds the connections of a server: a process without files reaches neither its agent nor its store. Beyond a limit the oldest connection for which
 * there is nothing to do makes room for the one that comes: it has not sent a whole request, or has been answered. It is one of the same source where
 * that has too many; one of the source that has most where strangers have; and one of the user that has most, otherwise. Where all
 * of these are being served, the one that comes is closed.
 */
export function boundConnections(
  server: Server,
  deps: {
    readonly most: number
    readonly log: Pick<Logger, 'warn'>
    readonly sourceOf?: (socket: Socket) => string
  },
): ConnectionBounds {
  const { log, sourceOf = sourceOfSocket } = deps
  const limits = connectionLimits(deps.most)
  const admission = createAdmission(limits, tellFull(log, limits.most))

  const admit = (socket: Socket): boolean => {
    const isAdmitted = admission.admit(socket, sourceOf(socket))
    if (isAdmitted) socket.once('close', () => admission.leave(socket))
    else socket.destroy()
    return isAdmitted
  }
  const handOver: ConnectionBounds['handOver'] = (admitted, secured, onKnown) => {
    const isThere = admission.handOver(admitted, secured, onKnown)
    if (isThere) secured.once('close', () => admission.leave(secured))
    return isThere
  }
  server.on('connection', (socket: Socket) => {
    // What was handed over has its place.
    if (admission.exchangesOf(socket) === undefined) admit(socket)
  })
  const note = noteExchange(admission)
  server.on('request', (request: IncomingMessage, response: ServerResponse) =>
    note(request.socket, { request, response }, response),
  )
  const { know: signedIn, isKnown } = admission
  const isBusy = busyOf(admission)
  return { signedIn, isKnown, isBusy, admit, handOver, note, sourceOf }
}

/** Notes each request on its connection, until it has been answered. */
function noteExchange({ exchangesOf, wait }: ReturnType<typeof createAdmission>): ConnectionBounds['note'] {
  return (socket, exchange, response) => {
    const exchanges = exchangesOf(socket)
    if (exchanges === undefined) return
    exchanges.add(exchange)
    // Each of these events comes once: a listener that removes itself costs more.
    response.on('prefinish', () => wait(socket)) // the answer is written; a client that does not read it can be disconnected
    response.on('close', () => {
      exchanges.delete(exchange)
      wait(socket)
    })
  }
}

/** Says now and then that there is no place, and from where the connection came that found none. */
function tellFull(log: Pick<Logger, 'warn'>, most: number): (from: string) => void {
  let saidAtMs = Number.NEGATIVE_INFINITY
  return (from) => {
    if (performance.now() - saidAtMs < SAY_AGAIN_MS) return
    saidAtMs = performance.now()
    log.warn(
      { most, from },
      'the API has reached its limit of connections: the oldest without a whole request are closed',
    )
  }
}

/** By what is noted of its requests. */
function busyOf({ exchangesOf }: ReturnType<typeof createAdmission>): ConnectionBounds['isBusy'] {
  return (socket) => [...(exchangesOf(socket) ?? [])].some(({ request }) => request.complete)
}

/** The connections there are. `onFull` is called with the source of each new connection for which another one is closed. */
function createAdmission(limits: ConnectionLimits, onFull: (source: string) => void) {
  const open = new Map<Socket, OpenConnection>()
  const strangers = createConnectionRegistry()
  const known = createConnectionRegistry()
  const registryOf = ({ isKnown }: OpenConnection) => (isKnown ? known : strangers)
  const enter = (socket: Socket, connection: OpenConnection) => {
    open.set(socket, connection)
    registryOf(connection).add(connection.whose, socket)
    wait(socket)
  }
  const leave = (socket: Socket) => {
    const connection = open.get(socket)
    if (connection !== undefined) registryOf(connection).remove(connection.whose, socket)
    open.delete(socket)
  }
  const wait = (socket: Socket) => {
    const connection = open.get(socket)
    if (connection !== undefined) registryOf(connection).wait(connection.whose, socket)
  }
  const makeRoom = (candidates: Iterable<Socket>): boolean => {
    const idle = firstIdle(candidates, open, (socket, connection) =>
      registryOf(connection).serve(connection.whose, socket),
    )
    if (idle === undefined) return false
    leave(idle)
    idle.destroy()
    return true
  }
  const mayCome = (source: string): boolean => {
    const candidates = candidatesFor(source, limits, strangers, known)
    if (candidates === undefined) return true
    onFull(source)
    return candidates.some((those) => makeRoom(those()))
  }
  return {
    leave,
    wait,
    exchangesOf: (socket: Socket) => open.get(socket)?.exchanges,
    isKnown: (socket: Socket) => open.get(socket)?.isKnown ?? false,
    /** Whether it may stay. */
    admit(socket: Socket, source: string): boolean {
      if (!mayCome(source)) return false
      enter(socket, { whose: source, isKnown: false, exchanges: new Set() })
      return true
    },
    /** Whether the former was still there. */
    handOver(admitted: Socket, secured: Socket, onKnown: (() => void) | undefined): boolean {
      const connection = open.get(admitted)
      leave(admitted)
      if (connection !== undefined) enter(secured, { ...connection, onKnown })
      return connection !== undefined
    },
    know(socket: Socket, userUid: number): void {
      const connection = open.get(socket)
      const whose = String(userUid)
      if (connection === undefined || (connection.isKnown && connection.whose === whose)) return
      leave(socket)
      enter(socket, { ...connection, whose, isKnown: true })
      if (!connection.isKnown) connection.onKnown?.()
    },
  }
}

type Registry = ReturnType<typeof createConnectionRegistry>

/** Those of which one makes room for a connection from there, the first of them first; undefined: there is room. */
function candidatesFor(
  source: string,
  limits: ConnectionLimits,
  strangers: Registry,
  known: Registry,
): readonly (() => Iterable<Socket>)[] | undefined {
  if (strangers.count(source) >= limits.mostOfSource) return [() => strangers.waiting(source)]
  if (strangers.size >= limits.mostStrangers) return [() => strangers.allWaiting()]
  if (strangers.size + known.size < limits.most) return undefined
  return [() => known.allWaiting(), () => strangers.allWaiting()]
}

/** The first of these that is not served. Those that are being served are passed to `serve`: they wait again when they have been answered. */
function firstIdle(
  candidates: Iterable<Socket>,
  open: ReadonlyMap<Socket, OpenConnection>,
  serve: (socket: Socket, connection: OpenConnection) => void,
): Socket | undefined {
  for (const socket of candidates) {
    const connection = open.get(socket)
    if (connection === undefined) continue
    if (!isServed(connection.exchanges)) return socket
    serve(socket, connection)
  }
  return undefined
}

/** The address, or its network; a process of this machine may come from any of its loopback addresses. */
function sourceOfSocket({ remoteAddress = '' }: Socket): string {
  return addressSource(remoteAddress) ?? 'this machine'
}

/** Whether a complete request of the client is not answered yet. */
function isServed(exchanges: ReadonlySet<Exchange>): boolean {
  for (const { request, response } of exchanges) if (request.complete && !response.writableEnded) return true
  return false
}
