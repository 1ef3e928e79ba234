import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2'
import type { TLSSocket } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import { answerExpectation, answerLongHeaders } from '../answer-error.ts'
import type { ConnectionBounds, Exchange } from '../connections/bound-connections.ts'
import { closeQuiet } from '../connections/end-connections.ts'

/** Serves connections on which the client has chosen HTTP/2. Disposed of, it ends what is left. */
export interface Http2Server extends Disposable {
  /** The handshake of this connection is over. */
  take(socket: TLSSocket): void
  /** Each client is told that there are no more requests; those that have come whole end, those that are on their way have a second for each piece. */
  stop(): void
}

/** What one client may take. */
export interface Http2Limits {
  readonly streams: number
  /** In one request, as of HTTP/1.1. */
  readonly headerBytes: number
  /** Pings, settings and streams that end in an error, each in ten seconds. */
  readonly nuisances: number
  /** A request has to be sent within this time. */
  readonly requestMs: number
  /** An answer that is ready, and of which the client takes nothing, is ended after this time. */
  readonly readMs: number
  /** A connection is closed when it has had no request for so long; the first one has to begin sooner. */
  readonly idleMs: number
  readonly firstMs: number
  readonly lookEveryMs: number
}

const usual: Http2Limits = {
  streams: 100,
  headerBytes: 16_384,
  nuisances: 200,
  requestMs: 30_000,
  readMs: 60_000,
  idleMs: 72_000,
  firstMs: 10_000,
  lookEveryMs: 5_000,
}
const WINDOW_MS = 10_000
/** Bytes of a connection that are kept: a client that reads nothing of 100 answers gets no further request through. */
const MEGABYTES_OF_SESSION = 4

interface Session {
  readonly socket: TLSSocket
  readonly requests: Set<Request>
  hasAsked: boolean
  idleSinceMs: number
  windowSinceMs: number
  nuisances: number
}

interface Request {
  readonly exchange: Exchange
  readonly sinceMs: number
  answeredMs: number | undefined
  end(): void
}

/**
 * HTTP/2 before the routes of `http`, with the same bounds as HTTP/1.1: a connection is one, however many requests are under way on it. `limits`
 * are for tests.
 */
export function serveHttp2(deps: {
  readonly http: Pick<FastifyInstance, 'routing'>
  readonly bounds: Pick<ConnectionBounds, 'note' | 'isBusy'>
  readonly limits?: Partial<Http2Limits>
}): Http2Server {
  const { http, bounds } = deps
  const limits = { ...usual, ...deps.limits }
  const sessions = new Map<ServerHttp2Session, Session>()
  const server = createServer(optionsOf(limits))
  let coming: TLSSocket | undefined
  server.on('session', (session) => {
    if (coming === undefined) return session.destroy()
    watch(session, coming, sessions, limits)
  })
  server.on('sessionError', () => undefined) // it is closed; nothing was asked that could be answered
  server.on('checkExpectation', answerExpectation)
  server.on('request', (request, response) => {
    const { session } = request.stream
    const known = session === undefined ? undefined : sessions.get(session as ServerHttp2Session)
    if (known === undefined) return void request.stream.destroy()
    if (headerBytesOf(request) > limits.headerBytes) return refuseHeaders(request, response)
    nameHost(request)
    // Each stream has a socket of its own that only passes on: what is asked of a connection is asked of the one that there is.
    Object.defineProperty(request, 'socket', { value: known.socket })
    const raw = response as unknown as ServerResponse
    const exchange: Exchange = {
      request: {
        get complete() {
          return request.stream.endAfterHeaders || request.complete
        },
      },
      response: raw,
    }
    bounds.note(known.socket, exchange, raw)
    noteRequest(known, exchange, raw, () => request.stream.close(constants.NGHTTP2_CANCEL))
    // Fastify takes both: these have all that it uses of theirs.
    http.routing(request as unknown as IncomingMessage, raw)
  })
  const looking = setInterval(() => {
    for (const [session, known] of sessions) look(session, known, limits)
  }, limits.lookEveryMs)
  looking.unref()
  let stopClosing: (() => void) | undefined
  return {
    take(socket) {
      coming = socket
      server.emit('connection', socket)
      coming = undefined
    },
    stop() {
      for (const session of sessions.keys()) session.close()
      stopClosing ??= closeQuiet(() => [...sessions.values()].map(({ socket }) => socket), bounds.isBusy)
    },
    [Symbol.dispose]() {
      clearInterval(looking)
      stopClosing?.()
      for (const session of sessions.keys()) session.destroy()
    },
  }
}

/** As HTTP/1.1 writes them. The limit that HTTP/2 has for them is only advice to the client. */
function headerBytesOf({ rawHeaders }: Http2ServerRequest): number {
  return rawHeaders.reduce((sum, text) => sum + text.length + 2, 0)
}

function refuseHeaders(request: Http2ServerRequest, response: Http2ServerResponse): void {
  // Of the compatibility interface, only what both have in common is used.
  answerLongHeaders(request, response as unknown as ServerResponse)
  response.once('finish', () => request.stream.close(constants.NGHTTP2_NO_ERROR))
}

function optionsOf({ streams, headerBytes, nuisances }: Http2Limits) {
  return {
    settings: { maxConcurrentStreams: streams, maxHeaderListSize: headerBytes, enablePush: false },
    maxSessionMemory: MEGABYTES_OF_SESSION,
    maxHeaderListPairs: 128,
    maxSettings: 16,
    maxOutstandingPings: 1,
    maxSessionInvalidFrames: nuisances,
    maxSessionRejectedStreams: nuisances,
    streamResetBurst: nuisances,
    streamResetRate: 20,
  }
}

/** Counts what costs work and asks nothing. A client that does nothing else is told so, and closed. */
function watch(
  session: ServerHttp2Session,
  socket: TLSSocket,
  sessions: Map<ServerHttp2Session, Session>,
  limits: Http2Limits,
): void {
  const now = performance.now()
  const known: Session = {
    ...{ socket, requests: new Set<Request>(), hasAsked: false, nuisances: 0 },
    ...{ idleSinceMs: now, windowSinceMs: now },
  }
  sessions.set(session, known)
  const count = () => {
    const at = performance.now()
    if (at - known.windowSinceMs > WINDOW_MS) {
      known.windowSinceMs = at
      known.nuisances = 0
    }
    known.nuisances += 1
    if (known.nuisances > limits.nuisances) session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM)
  }
  session.on('ping', count)
  session.on('remoteSettings', count)
  session.on('stream', (stream) =>
    stream.once('close', () => {
      // Whichever side has ended it.
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) count()
    }),
  )
  session.on('error', () => undefined)
  session.once('close', () => {
    sessions.delete(session)
    socket.destroy()
  })
}

function noteRequest(known: Session, exchange: Exchange, response: ServerResponse, end: () => void): void {
  const request: Request = { exchange, sinceMs: performance.now(), answeredMs: undefined, end }
  known.hasAsked = true
  known.requests.add(request)
  response.once('close', () => {
    known.requests.delete(request)
    known.idleSinceMs = performance.now()
  })
}

/** Ends what has taken too long. */
function look(session: ServerHttp2Session, known: Session, limits: Http2Limits): void {
  const now = performance.now()
  for (const request of known.requests) {
    const { complete } = request.exchange.request
    const { writableEnded } = request.exchange.response
    if (writableEnded) request.answeredMs ??= now
    const isLate = !complete && !writableEnded && now - request.sinceMs > limits.requestMs
    const isUnread = request.answeredMs !== undefined && now - request.answeredMs > limits.readMs
    if (isLate || isUnread) request.end()
  }
  const mayRest = known.hasAsked ? limits.idleMs : limits.firstMs
  if (known.requests.size === 0 && now - known.idleSinceMs > mayRest) session.destroy()
}

/** Where HTTP/1.1 has `Host`, HTTP/2 has `:authority`. Two that differ are none: a page could hide its own name behind ours. */
function nameHost({ headers }: Http2ServerRequest): void {
  const { ':authority': authority, host } = headers
  if (authority === undefined && host !== undefined) return
  headers.host = authority !== undefined && (host === undefined || host === authority) ? authority : ''
}
