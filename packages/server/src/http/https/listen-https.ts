import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from 'node:tls'
import { createHandshakeQueue, type HandshakeQueue, tlsForClients } from '@fairlead/engine'
import type { FastifyInstance } from 'fastify'
import { addressSource } from '../../sessions/sources.ts'
import type { ApiCertificate } from '../../tls/api-certificate.ts'
import { printRefusal, TLS_HANDSHAKE } from '../answer-error.ts'
import type { ConnectionBounds } from '../bound-connections.ts'

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
/** What does not read its answer is closed. */
const READ_WITHIN_MS = 1_000
const PLAIN_HERE = 'this port speaks HTTPS: use https://'

/**
 * Serves the API of `http` over TLS, too, behind the same bounds. Connections are handed to the very server that serves plain HTTP, when
 * their handshake is over: each limit of that one holds here. A client has its place from its first byte on.
 */
export async function listenHttps(deps: {
  readonly http: Pick<FastifyInstance, 'server'>
  readonly bounds: ConnectionBounds
  readonly place: { readonly host: string; readonly port: number }
  readonly pair: Pair
}): Promise<HttpsListener> {
  const { http, bounds, place, pair } = deps
  const handshakes: Handshakes = new Map()
  const queue = createHandshakeQueue()
  const tls = secure(pair, http, bounds, handshakes, queue.end)
  const begin = inQueue(queue, tls)
  const open = new Set<Socket>()
  const front = createServer({ noDelay: true }, (raw) => {
    open.add(raw)
    raw.once('close', () => open.delete(raw))
    raw.on('error', () => raw.destroy())
    if (bounds.admit(raw)) awaitHandshake(raw, begin, handshakes)
  })
  front.listen(place)
  await once(front, 'listening')
  front.on('error', () => undefined) // one connection could not be taken

  let isStopping = false
  const closeIdle = () => void (isStopping && setImmediate(() => http.server.closeIdleConnections()))
  http.server.on('request', (_, response) => response.once('close', closeIdle))
  const stop = () => {
    isStopping = true
    if (front.listening) front.close()
    for (const raw of handshakes.values()) raw.destroy()
    closeIdle()
  }
  return {
    port: portOf(front.address()),
    show: (other) => tls.setSecureContext(tlsForClients(other)),
    stop,
    async [Symbol.asyncDispose]() {
      stop()
      await untilClosed(open)
    },
  }
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

/** Hands connections to `http` when their handshake is over. */
function secure(
  pair: Pair,
  http: Pick<FastifyInstance, 'server'>,
  bounds: ConnectionBounds,
  handshakes: Handshakes,
  onEnd: (raw: Socket) => void,
): TlsServer {
  const options = { ...tlsForClients(pair), ALPNProtocols: ['http/1.1'], handshakeTimeout: HANDSHAKE_MS }
  const tls = createTlsServer(options, (secured) => {
    const raw = handshakes.get(peerOf(secured))
    handshakes.delete(peerOf(secured))
    if (raw !== undefined) onEnd(raw)
    if (raw === undefined || !bounds.handOver(raw, secured)) secured.destroy()
    else http.server.emit('connection', secured)
  })
  // Node reports clients that are no TLS or too slow, but leaves them connected.
  tls.on('tlsClientError', (_, socket: TLSSocket) => socket.destroy())
  // Faults of a request are told to the server that a socket was made by.
  tls.on('clientError', (cause: Error, socket: Socket) => http.server.emit('clientError', cause, socket))
  return tls
}

/** Begins a handshake when it is its turn. */
function inQueue(queue: HandshakeQueue, tls: TlsServer): (raw: Socket) => void {
  return (raw) => {
    const source = addressSource(raw.remoteAddress ?? '') ?? 'this machine'
    queue.add(raw, source, () => tls.emit('connection', raw))
  }
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
