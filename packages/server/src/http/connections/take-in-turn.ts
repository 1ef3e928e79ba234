import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { countPieces, createQueue, type Queue } from '@fairlead/engine'
import { answerTooMany } from '../answer-error.ts'

/** Requests of HTTP/1.1 that may be under way on one connection. Programs send one after the other. */
export const MOST_OF_CONNECTION = 8
/** A client that sends so many more is closed without a further word. */
const MOST_EXCESS = 56
/** So much of a round of the event loop is for requests that have just come; others wait for a later round. */
const ROUND_MS = 2
/** A request costs at least that, with what Node does for it. */
const LEAST_MS = 0.05
/** A client has so long to read an answer that has come before the end of its request. */
const READ_WITHIN_MS = 1_000

interface Line {
  readonly waiting: Queue<() => void>
  /** Requests that have come and are not answered yet. */
  open: number
  /** Beyond what it may have. */
  excess: number
  /** To be called when one of them has been answered: one function for all, because each request costs it. */
  readonly onAnswered: () => void
}

/** Kept at the socket itself: a map costs each request of the API more. */
const LINE = Symbol('line')
type Lined = Socket & { [LINE]?: Line }

function lineOf(socket: Lined): Line {
  const known = socket[LINE]
  if (known !== undefined) return known
  const onAnswered = () => {
    line.open -= 1
  }
  const line: Line = { waiting: createQueue(), open: 0, excess: 0, onAnswered }
  socket[LINE] = line
  return line
}

/**
 * Bounds what connections of HTTP/1.1 can make `server` do in one round of the event loop: Node parses all that a socket holds, up to 2 MB, and hands over all requests in it, before anything else
 * is done. One connection has a few requests under way; of many connections, those of users who have signed in (`isKnown`) and others take turns. To be called after all listeners of requests are there.
 */
export function takeInTurn(server: Server, isKnown: (socket: Socket) => boolean = () => false): void {
  const bound = boundRequests(createRounds(isKnown))
  for (const event of ['request', 'checkExpectation'] as const) {
    const listeners = server.listeners(event) as RequestListener[]
    server.removeAllListeners(event)
    for (const [n, listener] of listeners.entries()) server.on(event, n === 0 ? bound(listener) : listener)
  }
}

/** The same for the listener of a server that is made of it. */
export function inTurn(listener: RequestListener): RequestListener {
  return boundRequests(createRounds(() => false))(listener)
}

function boundRequests(rounds: ReturnType<typeof createRounds>) {
  return (listener: RequestListener): RequestListener =>
    (request, response) => {
      const { socket } = request
      const line = lineOf(socket)
      if (line.excess > 0 || line.open === MOST_OF_CONNECTION) {
        line.excess += 1
        if (line.excess === 1) answerTooMany(request, response, MOST_OF_CONNECTION)
        if (line.excess > MOST_EXCESS) cut(socket)
        return
      }
      line.open += 1
      response.on('close', line.onAnswered)
      if (request.headers['transfer-encoding'] !== undefined) boundPieces(request, response)
      if (rounds.isFree(socket, line)) rounds.spend(listener, request, response)
      else rounds.wait(socket, line, () => listener(request, response))
    }
}

/** Also where the request has been answered before its end, and they are thrown away. */
function boundPieces(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request
  const areTooMany = countPieces()
  const push = request.push.bind(request)
  request.push = (piece: Buffer | null) => {
    if (piece === null || !areTooMany(piece.length)) return push(piece)
    cut(socket)
    return false
  }
  const stopReading = () => {
    if (request.complete || socket.destroyed) return
    socket.pause()
    socket.end()
    setTimeout(() => socket.destroy(), READ_WITHIN_MS).unref()
  }
  // The rest of it may have been read already.
  response.once('finish', () => setImmediate(stopReading))
}

/** What follows a request in the same piece is of another protocol, as with `Upgrade`: llhttp does not look at it. */
const STOPS_PARSING = 2

/** Nothing more of it is read, nor parsed of what has been read. */
function cut(socket: Socket): void {
  socket.destroy()
  const { parser } = socket as { readonly parser?: { onIncoming: unknown } }
  if (parser) parser.onIncoming = () => STOPS_PARSING
}

/** Does what waits in rounds of the event loop: one request of each connection after the other. */
function createRounds(isKnown: (socket: Socket) => boolean) {
  type Waiting = readonly [Socket, Line]
  const queues = { known: createQueue<Waiting>(), others: createQueue<Waiting>() }
  const queueOf = (socket: Socket) => queues[isKnown(socket) ? 'known' : 'others']
  let spentMs = 0
  let isDue = false
  let turn: 'known' | 'others' = 'others'
  const spend: Spend = (act, ...about) => {
    const began = performance.now()
    act(...about)
    spentMs += Math.max(LEAST_MS, performance.now() - began)
    noticeEnd()
  }
  const next = () => {
    turn = turn === 'known' ? 'others' : 'known'
    return queues[turn].shift() ?? queues.known.shift() ?? queues.others.shift()
  }
  const endRound = () => {
    isDue = false
    spentMs = 0
    while (spentMs < ROUND_MS) {
      const found = next()
      if (found === undefined) return
      const [socket, line] = found
      const act = line.waiting.shift()
      if (act === undefined || socket.destroyed) continue
      if (line.waiting.size > 0) wait(socket, line)
      spend(act)
    }
    noticeEnd()
  }
  const noticeEnd = () => {
    if (isDue) return
    isDue = true
    setImmediate(endRound)
  }
  const wait = (socket: Socket, line: Line) => {
    queueOf(socket).push([socket, line])
    noticeEnd()
  }
  return {
    /** Whether a request of this connection may be done at once. */
    isFree: (socket: Socket, line: Line) =>
      spentMs < ROUND_MS && line.waiting.size === 0 && queueOf(socket).size === 0,
    spend,
    wait(socket: Socket, line: Line, act: () => void): void {
      line.waiting.push(act)
      if (line.waiting.size === 1) wait(socket, line)
    },
  }
}

type Spend = <About extends readonly unknown[]>(act: (...about: About) => void, ...about: About) => void
