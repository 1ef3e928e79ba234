import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from 'node:tls'
import {
  awaitHello,
  createHandshakeQueue,
  createTlsDoor,
  createTlsGuard,
  HANDSHAKES_AT_ONCE,
  tlsForClients,
} from '@fairlead/engine'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { ApiCertificate } from '../../tls/api-certificate.ts'
import type { ConnectionBounds } from '../connections/bound-connections.ts'
import { END_WITHIN_MS } from '../connections/end-connections.ts'
import { refusePlain } from './refuse-plain.ts'
import { type Http2Limits, type Http2Server, serveHttp2 } from './serve-http2.ts'

type Pair = Pick<ApiCertificate, 'cert' | 'key'>

/** The API over TLS at one port. Disposed of, it takes no more clients, lets requests end for a while, and closes. */
export interface HttpsListener extends AsyncDisposable {
  readonly port: number
  /** New clients are shown this certificate; present ones stay connected. Throws when it cannot be shown; then nothing has changed. */
  show(pair: Pair): void
  /** No new client comes in; connections without a request are closed. */
  stop(): void
}

/** A client that has not finished the handshake within this time is closed. */
const HANDSHAKE_MS = 5_000
const CLOSE_IDLE_EVERY_MS = 50
const SAY_AGAIN_MS = 60_000

/**
 * Serves the API of `http` over TLS, too, behind the same bounds: HTTP/2 where the client offers it. Connections of HTTP/1.1 are handed to the very
 * server that serves plain HTTP, when their handshake is over: each limit of that one holds here. A client has its place from its first byte on.
 */
export async function listenHttps(deps: {
  readonly http: Pick<FastifyInstance, 'server' | 'routing'>
  readonly bounds: ConnectionBounds
  readonly place: { readonly host: string; readonly port: number }
  readonly pair: Pair
  readonly log: Pick<Logger, 'warn'>
  /** For tests. */
  readonly http2Limits?: Partial<Http2Limits>
}): Promise<HttpsListener> {
  const { http, bounds, place, pair, http2Limits: limits } = deps
  const handshakes: Handshakes = new Set()
  const http2 = serveHttp2({ http, bounds, ...(limits && { limits }) })
  const tls = createTlsServer({
    ...tlsForClients(pair),
    ...{ ALPNProtocols: [...protocols], handshakeTimeout: HANDSHAKE_MS },
  })
  // Faults of a request are told to the server that a socket was made by.
  tls.on('clientError', (cause: Error, socket: Socket) => http.server.emit('clientError', cause, socket))
  const begin = secureWith(tls, deps, handshakes, {
    h2: (socket) => http2.take(socket),
    'http/1.1': (socket) => void http.server.emit('connection', socket),
  })
  const open = new Set<Socket>()
  const front = createFront(open, (raw) => bounds.admit(raw) && awaitHandshake(raw, begin, handshakes))
  front.listen(place)
  await once(front, 'listening')
  front.on('error', () => undefined) // one connection could not be taken

  const { stop, ended } = stopOf({ front, open, handshakes, http, http2 })
  return {
    port: portOf(front.address()),
    show: (other) => tls.setSecureContext(tlsForClients(other)),
    stop,
    async [Symbol.asyncDispose]() {
      stop()
      await untilClosed(open)
      ended()
    },
  }
}

/** What comes in, before it is known what it is, is in `open` until it closes. */
function createFront(open: Set<Socket>, take: (raw: Socket) => void): Server {
  return createServer({ noDelay: true, allowHalfOpen: true }, (raw) => {
    open.add(raw)
    raw.once('close', () => open.delete(raw))
    raw.on('error', () => raw.destroy())
    take(raw)
  })
}

/** `stop` is that of the listener, and may be called again; `ended` follows when no connection is left. */
function stopOf(parts: {
  readonly front: Server
  readonly open: ReadonlySet<Socket>
  readonly handshakes: Handshakes
  readonly http: Pick<FastifyInstance, 'server'>
  readonly http2: Http2Server
}) {
  const { front, open, handshakes, http, http2 } = parts
  let closing: NodeJS.Timeout | undefined
  let late: NodeJS.Timeout | undefined
  const stop = () => {
    if (front.listening) front.close()
    for (const raw of handshakes) raw.destroy()
    http2.stop()
    // Those with a request under way are idle when it has been answered. To hear of each answer would cost all requests before, too.
    closing ??= setInterval(() => http.server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS)
    http.server.closeIdleConnections()
    // From the stop on, as over plain HTTP: one deadline after the other would be twice as long.
    late ??= setTimeout(() => {
      for (const socket of open) socket.destroy()
    }, END_WITHIN_MS)
  }
  const ended = () => {
    clearInterval(closing)
    clearTimeout(late)
    http2[Symbol.dispose]()
  }
  return { stop, ended }
}

async function untilClosed(open: ReadonlySet<Socket>): Promise<void> {
  await Promise.all([...open].map((socket) => new Promise((resolve) => socket.once('close', resolve))))
}

/** Those that have come in, and whose handshake has not ended. */
type Handshakes = Set<Socket>

/** What is spoken here, what is liked best first; a client that names nothing speaks HTTP/1.1. */
const protocols = ['h2', 'http/1.1'] as const
/** When its turn has come, `onTurn` calls what is to be done then. */
type Begin = (raw: Socket, onTurn: (then: () => void) => void) => void
type Takers = Readonly<Record<(typeof protocols)[number], (socket: TLSSocket) => void>>

/**
 * Begins handshakes when it is their turn, and hands connections on when their handshake is over, by the protocol that the client has chosen. Records that
 * hold nothing keep other requests waiting only once (tls-door.ts).
 */
function secureWith(
  tls: TlsServer,
  { bounds, log }: { readonly bounds: ConnectionBounds; readonly log: Pick<Logger, 'warn'> },
  handshakes: Handshakes,
  takers: Takers,
): Begin {
  const guard = createTlsGuard()
  const queue = createHandshakeQueue({ atOnce: HANDSHAKES_AT_ONCE, isKnown: guard.crowds.isKnown })
  const door = createTlsDoor(tls, guard)
  const cut = cutAndTell(log)
  const secured = (raw: Socket, client: TLSSocket) => {
    queue.end(raw)
    const isThere = handshakes.delete(raw) && bounds.handOver(raw, client, () => door.know(raw))
    if (!isThere) return void client.destroy()
    door.admit(raw, client, () => !bounds.isKnown(client))
    client.allowHalfOpen = false
    takers[client.alpnProtocol === 'h2' ? 'h2' : 'http/1.1'](client)
  }
  const begin = (raw: Socket, source: string) => {
    raw.once('end', () => handshakes.has(raw) && raw.destroy())
    door.begin(raw, {
      ...{ source, cut },
      secured: (client) => secured(raw, client),
      // Node reports clients that are no TLS or too slow, but leaves them connected.
      failed: (_, client) => void client.destroy(),
    })
  }
  return (raw, onTurn) => {
    const source = bounds.sourceOf(raw)
    queue.add(raw, source, () => onTurn(() => begin(raw, source)))
  }
}

/** Closes a client that floods. */
function cutAndTell(log: Pick<Logger, 'warn'>): (client: Socket, why: string) => void {
  let saidAtMs = Number.NEGATIVE_INFINITY
  return (client, why) => {
    // A closed socket may have none any more.
    const from = client.remoteAddress
    client.destroy()
    if (performance.now() - saidAtMs < SAY_AGAIN_MS) return
    saidAtMs = performance.now()
    log.warn({ from, why }, 'a client of HTTPS was closed')
  }
}

/** From the first byte on it is TLS, or it is told what this port is. */
function awaitHandshake(raw: Socket, begin: Begin, handshakes: Handshakes): void {
  handshakes.add(raw)
  const late = setTimeout(() => {
    if (handshakes.has(raw)) raw.destroy()
  }, HANDSHAKE_MS)
  raw.once('close', () => {
    clearTimeout(late)
    handshakes.delete(raw)
  })
  const stop = awaitHello(raw, {
    come: () => begin(raw, stop),
    plain: () => stop(() => refusePlain(raw)),
    refused: () => raw.destroy(),
  })
}

function portOf(address: ReturnType<ReturnType<typeof createServer>['address']>): number {
  return typeof address === 'object' && address !== null ? address.port : 0
}
