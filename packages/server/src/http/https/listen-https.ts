import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from 'node:tls'
import { createHandshakeQueue, tlsForClients } from '@fairlead/engine'
import type { FastifyInstance } from 'fastify'
import type { ApiCertificate } from '../../tls/api-certificate.ts'
import { printRefusal, TLS_HANDSHAKE } from '../answer-error.ts'
import type { ConnectionBounds } from '../bound-connections.ts'
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
/** When the server stops, requests have this long to end. */
const END_WITHIN_MS = 10_000
const CLOSE_IDLE_EVERY_MS = 50
/** What does not read its answer is closed. */
const READ_WITHIN_MS = 1_000
const PLAIN_HERE = 'this port speaks HTTPS: use https://'

/**
 * Serves the API of `http` over TLS, too, behind the same bounds: HTTP/2 where the client offers it. Connections of HTTP/1.1 are handed to the very
 * server that serves plain HTTP, when their handshake is over: each limit of that one holds here. A client has its place from its first byte on.
 */
export async function listenHttps(deps: {
  readonly http: Pick<FastifyInstance, 'server' | 'routing'>
  readonly bounds: ConnectionBounds
  readonly place: { readonly host: string; readonly port: number }
  readonly pair: Pair
  /** For tests. */
  readonly http2Limits?: Partial<Http2Limits>
}): Promise<HttpsListener> {
  const { http, bounds, place, pair, http2Limits: limits } = deps
  const handshakes: Handshakes = new Map()
  const queue = createHandshakeQueue()
  const http2 = serveHttp2({ http, bounds, ...(limits && { limits }) })
  const tls = secure(
    pair,
    bounds,
    { handshakes, onEnd: queue.end },
    {
      h2: (socket) => http2.take(socket),
      'http/1.1': (socket) => void http.server.emit('connection', socket),
    },
  )
  // Faults of a request are told to the server that a socket was made by.
  tls.on('clientError', (cause: Error, socket: Socket) => http.server.emit('clientError', cause, socket))
  const begin = (raw: Socket) => queue.add(raw, bounds.sourceOf(raw), () => tls.emit('connection', raw))
  const open = new Set<Socket>()
  const front = createFront(open, (raw) => bounds.admit(raw) && awaitHandshake(raw, begin, handshakes))
  front.listen(place)
  await once(front, 'listening')
  front.on('error', () => undefined) // one connection could not be taken

  const { stop, ended } = stopOf({ front, handshakes, http, http2 })
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
  return createServer({ noDelay: true }, (raw) => {
    open.add(raw)
    raw.once('close', () => open.delete(raw))
    raw.on('error', () => raw.destroy())
    take(raw)
  })
}

/** `stop` is that of the listener, and may be called again; `ended` follows when no connection is left. */
function stopOf(parts: {
  readonly front: Server
  readonly handshakes: Handshakes
  readonly http: Pick<FastifyInstance, 'server'>
  readonly http2: Http2Server
}) {
  const { front, handshakes, http, http2 } = parts
  let closing: NodeJS.Timeout | undefined
  const stop = () => {
    if (front.listening) front.close()
    for (const raw of handshakes.values()) raw.destroy()
    http2.stop()
    // Those with a request under way are idle when it has been answered. To hear of each answer would cost all requests before, too.
    closing ??= setInterval(() => http.server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS)
    http.server.closeIdleConnections()
  }
  const ended = () => {
    clearInterval(closing)
    http2[Symbol.dispose]()
  }
  return { stop, ended }
}

/** Those that are still open after a while are closed. */
async function untilClosed(open: ReadonlySet<Socket>): Promise<void> {
  const late = setTimeout(() => {
    for (const socket of open) socket.destroy()
  }, END_WITHIN_MS)
  await Promise.all([...open].map((socket) => new Promise((resolve) => socket.once('close', resolve))))
  clearTimeout(late)
}

/** By their other ends: what TLS hands over is another object than what came in. */
type Handshakes = Map<string, Socket>

/** What is spoken here, what is liked best first; a client that names nothing speaks HTTP/1.1. */
const protocols = ['h2', 'http/1.1'] as const
type Takers = Readonly<Record<(typeof protocols)[number], (socket: TLSSocket) => void>>

/** Hands connections on when their handshake is over, by the protocol that the client has chosen. */
function secure(
  pair: Pair,
  bounds: ConnectionBounds,
  { handshakes, onEnd }: { readonly handshakes: Handshakes; readonly onEnd: (raw: Socket) => void },
  takers: Takers,
): TlsServer {
  const options = { ...tlsForClients(pair), ALPNProtocols: [...protocols], handshakeTimeout: HANDSHAKE_MS }
  const tls = createTlsServer(options, (secured) => {
    const raw = handshakes.get(peerOf(secured))
    handshakes.delete(peerOf(secured))
    if (raw !== undefined) onEnd(raw)
    if (raw === undefined || !bounds.handOver(raw, secured)) secured.destroy()
    else takers[secured.alpnProtocol === 'h2' ? 'h2' : 'http/1.1'](secured)
  })
  // Node reports clients that are no TLS or too slow, but leaves them connected.
  tls.on('tlsClientError', (_, socket: TLSSocket) => socket.destroy())
  return tls
}

/** From the first byte on it is TLS, or it is told what this port is. */
function awaitHandshake(raw: Socket, begin: (raw: Socket) => void, handshakes: Handshakes): void {
  const peer = peerOf(raw)
  handshakes.set(peer, raw)
  const late = setTimeout(() => {
    if (handshakes.get(peer) === raw) raw.destroy()
  }, HANDSHAKE_MS)
  raw.once('close', () => {
    clearTimeout(late)
    if (handshakes.get(peer) === raw) handshakes.delete(peer)
  })
  raw.once('readable', () => {
    const first: Buffer | null = raw.read()
    if (first === null) return void raw.destroy()
    if (first[0] === TLS_HANDSHAKE) {
      raw.unshift(first)
      begin(raw)
    } else refuse(raw)
  })
}

function refuse(raw: Socket): void {
  raw.resume()
  raw.end(printRefusal(PLAIN_HERE))
  const late = setTimeout(() => raw.destroy(), READ_WITHIN_MS)
  raw.once('close', () => clearTimeout(late))
}

function peerOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}

function portOf(address: ReturnType<ReturnType<typeof createServer>['address']>): number {
  return typeof address === 'object' && address !== null ? address.port : 0
}
