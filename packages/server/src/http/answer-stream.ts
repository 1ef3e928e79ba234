import { type CutReason, cutReasons, EVENT_ID, Refusal, StreamCut } from '@fairlead/api'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Caller } from '../core/identity/access.ts'
import type { Identify } from '../identity/sessions/identify.ts'
import { isPermitted } from './authenticate.ts'
import { credentialsOf } from './browser-session.ts'
import { type Connection, holdConnection } from './connections/hold-connection.ts'
import type { Places } from './places.ts'

/** An event of a stream. `seq` rises: a client that connects again names the last one it got. Without it, the event is no place to go on from. */
export interface StreamEvent {
  readonly seq?: number
  readonly type: string
}

/** Where a client goes on: the last event that it has got. `mark` is what stands behind the number in its id, if anything does. */
export interface StreamPlace {
  readonly seq: number
  readonly mark?: string | undefined
}

/** What the handler of an operation that streams answers. */
export interface EventStream<Event extends StreamEvent = StreamEvent> {
  /** The events after `last`, or from the beginning; it is read no faster than the client reads. Ends on `signal`. */
  events(last: StreamPlace | undefined, signal: AbortSignal): AsyncIterable<Event>
  /** What is to stand behind the number in the id of an event; without it, nothing does. */
  markOf?(seq: number): string | undefined
  /** Called before each event and at each heartbeat. */
  admits(caller: Caller): boolean
  /** Whether this event is for the caller, as it is at this moment; without it, each is. */
  shows?(event: Event, caller: Caller): boolean
}

/** The streams of server-sent events that are open. */
export interface Streams {
  /** Takes the reply over. Resolves when the stream has ended, for whatever reason: nothing of it is left then. */
  answer(request: FastifyRequest, reply: FastifyReply, stream: EventStream): Promise<void>
  /** Ends all of them. */
  close(): Promise<void>
}

/** What streams may take of the server; times are milliseconds. */
export interface StreamLimits {
  /** A comment is sent this often, so that both sides learn when the other is gone. */
  readonly heartbeatMs: number
  /** A client that takes nothing for so long is let go. It can resume. */
  readonly stalledMs: number
}

const usual: StreamLimits = { heartbeatMs: 15_000, stalledMs: 60_000 }

/**
 * Server-sent events. A stream that may be resumed closes without `event: end`: the server stops, or the
 * client may no longer read it. The token is checked before each event and at each heartbeat: no event goes
 * to a token that has ended.
 */
export function createStreams(deps: {
  readonly identify: Identify
  readonly log: Logger
  readonly places: Places
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

/** Sends the events one after the other. Answers the last words: that all were sent, or why not; none where the connection has ended. */
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

/** The caller as it is now; null where the operation is open to all; undefined: it is admitted no longer. */
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

/** The header counts more than the query, see mount.ts. */
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

/** What the contract does not declare does not leave. Events that go to many clients are the same object, and printed once. */
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
