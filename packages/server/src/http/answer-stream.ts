import { type CutReason, cutReasons, EVENT_ID, Refusal, StreamCut } from '@fairlead/api'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Caller } from '../core/identity/access.ts'
import type { Identify } from '../identity/sessions/identify.ts'
import { isPermitted } from './authenticate.ts'
import { credentialsOf } from './browser-session.ts'
import { type Connection, holdConnection } from './connections/hold-connection.ts'
import type { LongRequestLimiter } from './long-request-limiter.ts'

/** An event of a stream. `seq` rises: a client resumes after its last `seq`, not after an event without. */
export interface StreamEvent {
  readonly seq?: number
  readonly type: string
}

/** The last event that a client got. `mark` is the suffix of its id, if any. */
export interface StreamPlace {
  readonly seq: number
  readonly mark?: string | undefined
}

/** The result of a streaming operation's handler. */
export interface EventStream<Event extends StreamEvent = StreamEvent> {
  /** Yields events after `last`, or all, as fast as the client reads. Ends on `signal`. */
  events(last: StreamPlace | undefined, signal: AbortSignal): AsyncIterable<Event>
  /** Returns the suffix of an event's id. Default: none. */
  markOf?(seq: number): string | undefined
  /** Called before each event and at each heartbeat. */
  admits(caller: Caller): boolean
  /** Returns whether the caller may see this event now. Default: true. */
  shows?(event: Event, caller: Caller): boolean
}

/** The open streams of server-sent events. */
export interface Streams {
  /** Takes over the reply. Resolves when the stream has ended completely. */
  answer(request: FastifyRequest, reply: FastifyReply, stream: EventStream): Promise<void>
  /** Ends all streams. */
  close(): Promise<void>
}

/** Limits of streams, in milliseconds. */
export interface StreamLimits {
  /** Interval of comments, by which both sides notice a lost connection. */
  readonly heartbeatMs: number
  /** A client that reads nothing for this long is cut; it can resume. */
  readonly stalledMs: number
}

const usual: StreamLimits = { heartbeatMs: 15_000, stalledMs: 60_000 }

/**
 * Sends server-sent events. Without `event: end` at its close, a stream may be resumed: the server stops, or
 * the client lost access. The token is checked before each event and at each heartbeat.
 */
export function createStreams(deps: {
  readonly identify: Identify
  readonly log: Logger
  readonly places: LongRequestLimiter
  readonly streamLimits?: Partial<StreamLimits>
}): Streams {
  const { identify, log, places } = deps
  const limits = { ...usual, ...deps.streamLimits }
  const stop = new AbortController()
  const open = new Set<Promise<void>>()
  const printed = new WeakMap<StreamEvent, string>()

  const run = async (request: FastifyRequest, reply: FastifyReply, stream: EventStream): Promise<void> => {
    const connection = holdConnection(reply.raw, { stop: stop.signal, stalledMs: limits.stalledMs })
    const fail = (cause: unknown) => {
      log.error({ err: cause }, 'a stream failed')
      connection.leave()
    }
    const admit = () => findAdmitted(request, stream, identify)
    const beat = setInterval(() => void keepUp(connection, admit).catch(fail), limits.heartbeatMs)
    try {
      const events = stream.events(readPlace(request), connection.signal)
      connection.end(
        await pour(events, connection, { admit, stream, print: printerOf(reply, stream, printed) }),
      )
    } catch (cause) {
      if (cause instanceof StreamCut) connection.end(cut(cause.reason))
      else {
        fail(cause)
        connection.end('')
      }
    } finally {
      clearInterval(beat)
    }
    await connection.closed
  }

  return {
    async answer(request, reply, stream) {
      readPlace(request) // refused while an answer can still be a refusal
      const place = places.take(request)
      reply.hijack()
      const running = run(request, reply, stream).finally(() => {
        open.delete(running)
        place[Symbol.dispose]()
      })
      open.add(running)
      await running
    },
    async close() {
      stop.abort()
      await Promise.all(open)
    },
  }
}

type Admit = () => Promise<Caller | null | undefined>

/** Sends events in order. Returns the final event, with the reason; none after a disconnect. */
async function pour(
  events: AsyncIterable<StreamEvent>,
  connection: Connection,
  {
    admit,
    stream,
    print,
  }: {
    readonly admit: Admit
    readonly stream: EventStream
    readonly print: (event: StreamEvent) => string
  },
): Promise<string> {
  for await (const event of events) {
    const caller = await admit()
    if (caller === undefined) return cut('not_admitted')
    if (caller !== null && stream.shows?.(event, caller) === false) continue
    await connection.write(print(event))
    if (connection.signal.aborted) return lastWords(connection)
  }
  return connection.signal.aborted ? lastWords(connection) : 'event: end\ndata: {}\n\n'
}

function lastWords(connection: Connection): string {
  return connection.left() === undefined ? '' : cut(connection.left() ?? 'slow_reader')
}

function cut(reason: CutReason): string {
  return `event: cut\ndata: ${JSON.stringify({ type: 'cut', reason, message: cutReasons[reason] })}\n\n`
}

async function keepUp(connection: Connection, admit: Admit): Promise<void> {
  if ((await admit()) === undefined) connection.leave('not_admitted')
  else connection.beat()
}

/** Returns the current caller; null: the operation is public; undefined: no longer permitted. */
async function findAdmitted(
  request: FastifyRequest,
  stream: EventStream,
  identify: Identify,
): Promise<Caller | null | undefined> {
  const { operation } = request.routeOptions.config
  if (operation === undefined || operation.permission === null) return null
  try {
    const caller = await identify(credentialsOf(request), { address: request.ip }, { admitsExpired: false })
    return isPermitted(request, operation, caller) && stream.admits(caller) ? caller : undefined
  } catch (cause) {
    if (cause instanceof Refusal) return undefined
    throw cause
  }
}

/** The header takes precedence over the query; see mount.ts. */
function readPlace({ headers, query }: FastifyRequest): StreamPlace | undefined {
  const { 'last-event-id': header } = headers
  const id =
    header === undefined || header === ''
      ? (query as { readonly last_event_id?: string }).last_event_id
      : header
  if (id === undefined) return undefined
  const [, seq, mark] = (typeof id === 'string' && ID.exec(id)) || []
  if (seq === undefined)
    throw new Refusal('invalid_request', 'Last-Event-ID: must be the id of an event of this stream')
  return { seq: Number(seq), mark }
}

const ID = new RegExp(EVENT_ID)

/** Prints events by schema, without undeclared fields, once for all clients. */
function printerOf(
  reply: FastifyReply,
  { markOf }: EventStream,
  printed: WeakMap<StreamEvent, string>,
): (event: StreamEvent) => string {
  const print = reply.getSerializationFunction('200')
  if (print === undefined) throw new Error('a stream without a schema of its events')
  return (event) => {
    const text =
      printed.get(event) ?? `${idOf(event, markOf)}event: ${event.type}\ndata: ${print({ ...event })}\n\n`
    printed.set(event, text)
    return text
  }
}

function idOf({ seq }: StreamEvent, markOf: EventStream['markOf']): string {
  if (seq === undefined) return ''
  const mark = markOf?.(seq)
  return mark === undefined ? `id: ${seq}\n` : `id: ${seq}-${mark}\n`
}
