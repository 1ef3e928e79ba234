import { Refusal } from '@fairlead/api'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Caller } from '../core/identity/access.ts'
import type { Identify } from '../sessions/identify.ts'
import { isPermitted } from './authenticate.ts'
import { credentialsOf } from './browser-session.ts'
import { type Connection, holdConnection } from './hold-connection.ts'
import type { Places } from './places.ts'
import { requesterOf } from './requester-of.ts'

/** An event of a stream. `seq` rises: a client that connects again names the last one it got. */
export interface StreamEvent {
  readonly seq: number
  readonly type: string
}

/** What the handler of an operation that streams answers. */
export interface EventStream<Event extends StreamEvent = StreamEvent> {
  /** The events after `lastSeq`, or from the beginning; it is read no faster than the client reads. Ends on `signal`. */
  events(lastSeq: number | undefined, signal: AbortSignal): AsyncIterable<Event>
  /** Called before each event and at each heartbeat. */
  admits(caller: Caller): boolean
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

  const run = async (request: FastifyRequest, reply: FastifyReply, stream: EventStream): Promise<void> => {
    const connection = holdConnection(reply.raw, { stop: stop.signal, stalledMs: limits.stalledMs })
    const fail = (cause: unknown) => {
      log.error({ err: cause }, 'a stream failed')
      connection.leave()
    }
    const isAdmitted = () => isStillAdmitted(request, stream, identify)
    const beat = setInterval(() => void keepUp(connection, isAdmitted).catch(fail), limits.heartbeatMs)
    try {
      const events = stream.events(readLastSeq(request), connection.signal)
      const isWhole = await pour(events, connection, isAdmitted, printerOf(reply))
      connection.end(isWhole ? 'event: end\ndata: {}\n\n' : '')
    } catch (cause) {
      fail(cause)
      connection.end('')
    } finally {
      clearInterval(beat)
    }
    await connection.closed
  }

  return {
    async answer(request, reply, stream) {
      readLastSeq(request) // refused while an answer can still be a refusal
      const place = await places.take(request)
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

/** Sends the events one after the other. True: all were sent. False: the connection or the token ended first. */
async function pour(
  events: AsyncIterable<StreamEvent>,
  connection: Connection,
  isAdmitted: () => Promise<boolean>,
  print: (event: StreamEvent) => string,
): Promise<boolean> {
  for await (const event of events) {
    if (!(await isAdmitted())) return false
    await connection.write(`id: ${event.seq}\nevent: ${event.type}\ndata: ${print(event)}\n\n`)
    if (connection.signal.aborted) return false
  }
  return !connection.signal.aborted
}

async function keepUp(connection: Connection, isAdmitted: () => Promise<boolean>): Promise<void> {
  if (await isAdmitted()) connection.beat()
  else connection.leave()
}

async function isStillAdmitted(
  request: FastifyRequest,
  stream: EventStream,
  identify: Identify,
): Promise<boolean> {
  const { operation } = request.routeOptions.config
  if (operation === undefined || operation.permission === null) return true
  try {
    const caller = await identify(credentialsOf(request), requesterOf(request), { admitsExpired: false })
    return isPermitted(request, operation, caller) && stream.admits(caller)
  } catch (cause) {
    if (cause instanceof Refusal) return false
    throw cause
  }
}

/** A browser that connects again sends the header in addition to its first query: the header is newer. */
function readLastSeq(request: FastifyRequest): number | undefined {
  const header = request.headers['last-event-id']
  if (header === undefined || header === '') {
    return (request.query as { readonly last_event_id?: number }).last_event_id
  }
  if (typeof header === 'string' && /^\d{1,15}$/.test(header)) return Number(header)
  throw new Refusal('invalid_request', 'Last-Event-ID: must be the id of an event of this stream')
}

/** What the contract does not declare does not leave. */
function printerOf(reply: FastifyReply): (event: StreamEvent) => string {
  const print = reply.getSerializationFunction('200')
  if (print === undefined) throw new Error('a stream without a schema of its events')
  return (event) => print({ ...event })
}
