import {
  type FormFile,
  type Input,
  type NeutralField,
  type Operation,
  type Output,
  type Pieces,
  Refusal,
  type WaitPreference,
} from '@fairlead/api'
import { createMutex, messageOf, underRequest } from '@fairlead/engine'
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Logger } from 'pino'
import { Type } from 'typebox'
import type { Caller, Requester } from '../core/identity/access.ts'
import { readBasicHeader } from '../identity/sessions/read-basic.ts'
import type { EventStream, Streams } from './answer-stream.ts'
import { refuseForeignPage, setCookie } from './browser-session.ts'
import type { Connections } from './connections/connections.ts'
import { takeNeutral } from './input/take-neutral.ts'
import type { Page } from './list-pages.ts'
import type { LongRequestLimiter } from './long-request-limiter.ts'
import { answerTagged } from './output/answer-tagged.ts'
import { logAction } from './request-ids.ts'
import { selectFields } from './select-fields.ts'
import { sendEntries } from './send-entries.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
  }
  interface FastifyInstance {
    streams: Streams
    places: LongRequestLimiter
    serverLog: Pick<Logger, 'info'>
    connections: Connections
  }
  interface FastifyContextConfig {
    operation?: Operation
  }
}

/** The sender of a request; without login, known only by address. */
export type CallerOf<Op extends Operation> = Op['permission'] extends null ? Requester : Caller
export type Handler<Op extends Operation> = (input: Input<Op>, asker: CallerOf<Op>) => Promise<Answer<Op>>
type Answer<Op extends Operation> = Op extends { readonly setsCookie: true }
  ? WithCookie<Output<Op>>
  : Op extends { readonly stream: true }
    ? EventStream<Output<Op>>
    : Op extends { readonly byEntry: true }
      ? Iterable<EntryOf<Output<Op>>>
      : Op extends { readonly paged: true }
        ? Page<Output<Op>>
        : Output<Op>
/** An answer with a session cookie; null ends the session. */
interface WithCookie<Body> {
  readonly answer: Body
  readonly cookie: string | null
}
type EntryOf<List> = List extends readonly (infer Entry)[] ? Entry : never
/** Serves an operation of the contract with a handler. Input and answer are validated. */
export type Mount = <Op extends Operation>(op: Op, handler: Handler<Op>) => void

/** Wraps the work of a request. */
export type RequestWrapper = <T>(work: () => Promise<T>) => Promise<T>

/** Binds operations to handlers. Validation, permission and answer schema come from the contract. */
export function mountOn(app: FastifyInstance, around: RequestWrapper = (work) => work()): Mount {
  const stopping = new AbortController()
  app.addHook('preClose', async () => stopping.abort())
  const runExclusive = createMutex()
  return (op, handler) => {
    const cacheControl = op.cacheSeconds === undefined ? 'no-store' : `public, max-age=${op.cacheSeconds}`
    const route: RouteOptions = {
      method: op.method,
      url: withoutWords(op),
      schema: {
        ...(op.params && { params: op.params }),
        querystring: op.query ?? nothing,
        ...(op.body && { body: op.body }),
        response: { 200: op.ok },
      },
      config: { operation: op },
      // A stream's body has no end.
      exposeHeadRoute: op.method === 'GET' && op.stream !== true,
      preValidation: preparationsOf(op),
      // Fastify has validated the parts with the schemas of Input.
      handler: async (request, reply) => {
        void reply.header('cache-control', cacheControl)
        // Without a session, nothing else has checked the page.
        if (op.setsCookie === true && op.permission === null) refuseForeignPage(request)
        const waitPreference = op.waits && waitPreferenceOf(request, reply, stopping.signal)
        using _ = waitPreference && !waitPreference.isAsync ? app.places.take(request) : null
        const input = {
          params: request.params,
          query: request.query,
          body: request.body,
          ...(op.upload && { file: fileOf(request, op.upload) }),
          ...(waitPreference && { waitPreference }),
          ...(op.planned && { basis: expectedBases(request) }),
        } as Input<typeof op>
        // The hook in authenticate.ts has refused every request without a caller where the operation needs
        // one.
        const asker = (request.caller ?? { address: request.ip }) as CallerOf<typeof op>
        const work = () => handler(input, asker)
        // A read commits nothing to report.
        const answer = await underRequest(request.id, () => (op.method === 'GET' ? work() : around(work)))
        if (op.method !== 'GET') logAction(app.serverLog, request, answer)
        return await send(app, op, answer, { request, reply, runExclusive })
      },
    }
    if (op.upload === undefined) app.route(route)
    else void app.register((room) => takeFiles(room, route))
  }
}

/** Sends a handler's answer in the way that the operation's type defines. */
async function send(
  { streams, places }: FastifyInstance,
  op: Operation,
  answer: unknown,
  exchange: { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly runExclusive: Turns },
): Promise<unknown> {
  const { request, reply, runExclusive } = exchange
  if (op.setsCookie === true) {
    const { answer: body, cookie } = answer as WithCookie<unknown>
    setCookie(request, reply, cookie)
    return body
  }
  if (op.stream === true) return await streams.answer(request, reply, answer as EventStream)
  if (op.planned === true) tagWithBasis(answer, reply)
  if (op.byEntry === true)
    return await sendEntries(op, answer as Iterable<unknown>, exchange, { places, runExclusive })
  const whole = op.paged === true ? entriesOf(answer as Page<unknown>, reply) : answer
  const chosen = op.selects !== undefined ? selectFields(op, request.query, whole, reply) : whole
  return op.tagged === true ? answerTagged(String(reply.serialize(chosen)), request, reply) : chosen
}

function entriesOf({ entries, next }: Page<unknown>, reply: FastifyReply): unknown {
  if (next !== undefined) void reply.header('x-next-cursor', next)
  return entries
}

type Turns = ReturnType<typeof createMutex>

/** A separate scope: elsewhere a body is JSON, or none. */
async function takeFiles(room: FastifyInstance, route: RouteOptions): Promise<void> {
  room.removeAllContentTypeParsers()
  await room.register(multipart)
  room.addContentTypeParser('*', (_request, _payload, done) => done(null))
  room.route(route)
}

function fileOf(request: FastifyRequest, upload: NonNullable<Operation['upload']>): Pieces {
  return upload === 'octets' ? request.raw : readFormFile(request, upload)
}

function waitPreferenceOf(
  request: FastifyRequest,
  reply: FastifyReply,
  stopping: AbortSignal,
): WaitPreference {
  const gone = new AbortController()
  // Aborts with this answer: its connection may carry others.
  reply.raw.once('close', () => gone.abort())
  const prefers = [request.headers['prefer'] ?? []].flat().join(',').split(/[,;]/)
  return {
    isAsync: prefers.some((word) => word.trim().toLowerCase() === 'respond-async'),
    signal: AbortSignal.any([gone.signal, stopping]),
  }
}

type Preparation = (request: FastifyRequest, reply: FastifyReply, done: (fault?: Error) => void) => void

/** Changes to a body or query before validation. */
function preparationsOf({ body, loginAsBasic, neutral, stream }: Operation): Preparation[] {
  return [
    ...(stream === true ? [preferHeader] : []),
    ...(body !== undefined && !('required' in body) ? [allowNoBody] : []),
    ...(loginAsBasic === true ? [takeBasic] : []),
    ...(neutral === undefined ? [] : [takeNeutralOf(neutral)]),
  ]
}

function takeNeutralOf(neutral: readonly NeutralField[]): Preparation {
  return (request, _, done) => {
    takeNeutral(neutral, request.body)
    done()
  }
}

/** A reconnecting browser repeats its first query and adds a newer header: then the query is ignored. */
function preferHeader({ headers, query }: FastifyRequest, _: FastifyReply, done: () => void): void {
  const { 'last-event-id': id = '' } = headers
  if (id !== '') Reflect.deleteProperty(query as object, 'last_event_id')
  done()
}

/** A request with only optional fields may have no body. */
function allowNoBody(request: FastifyRequest, _: FastifyReply, done: () => void): void {
  if (request.body == null) request.body = {}
  done()
}

const nothing = Type.Object({}, { additionalProperties: false })

/** Adds the header's user and password unless the body has them. */
function takeBasic(request: FastifyRequest, _: FastifyReply, done: () => void): void {
  const login = readBasicHeader(request.headers.authorization)
  const body = request.body ?? {}
  if (typeof body === 'object')
    request.body =
      login === undefined || hasLogin(body)
        ? body
        : { ...body, username: login.name, password: login.password }
  done()
}

function hasLogin({
  username,
  password,
}: {
  readonly username?: unknown
  readonly password?: unknown
}): boolean {
  return username != null || password != null
}

/** Restricts numbers in a path: a word there is another path, which may not exist. */
function withoutWords({ path, params }: Operation): string {
  const { properties = {} } = (params ?? {}) as {
    readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>
  }
  return path.replace(/:(\w+)/g, (all, name: string) =>
    properties[name]?.type === 'integer' ? `${all}(^[\\d+\\-.].*$)` : all,
  )
}

/** A form has one file; additional parts are only read to refuse them. */
const limits = { files: 2, fields: 2, parts: 3, fieldSize: 1_000, fileSize: Number.MAX_SAFE_INTEGER }

/**
 * Yields a form's file as it arrives. Throws Refusal if it is missing, other fields exist, or the form breaks
 * off.
 */
async function* readFormFile(request: FastifyRequest, { field, missing }: FormFile): Pieces {
  if (!request.isMultipart()) {
    throw new Refusal(missing, `send a form (multipart/form-data) with the file in the field ${field}`)
  }
  let isFound = false
  try {
    for await (const part of request.parts({ limits })) {
      if (part.type !== 'file' || part.fieldname !== field) throw stray(part, { field, missing })
      if (isFound) throw new Refusal('invalid_request', `${field}: the form has more than one file`)
      isFound = true
      yield* part.file
    }
  } catch (cause) {
    if (cause instanceof Refusal) throw cause
    const reason = messageOf(cause)
    throw new Refusal('invalid_request', `the form breaks off or is malformed: ${reason}`, { cause })
  } finally {
    // After an early answer, the rest is read and dropped, or the client would not see the answer.
    request.raw.unpipe()
    request.raw.resume()
  }
  if (!isFound) throw new Refusal(missing, `the form has no file in the field ${field}`)
}

function stray(
  { type, fieldname }: { readonly type: string; readonly fieldname: string },
  { field, missing }: Pick<FormFile, 'field' | 'missing'>,
): Refusal {
  if (fieldname === field)
    return new Refusal(missing, `${field}: must be a file, as curl -F ${field}=@file sends it`)
  const what = type === 'file' ? 'file' : 'field'
  return new Refusal(
    type === 'file' ? missing : 'invalid_request',
    `${fieldname.slice(0, 100)}: is no ${what} of this form; the file belongs in the field ${field}`,
  )
}

/** Bases in `If-Match`; undefined: no condition. Quotes are optional; weak tags match none. */
export function expectedBases({ headers }: Pick<FastifyRequest, 'headers'>): readonly string[] | undefined {
  const tags = [headers['if-match'] ?? []].flat().flatMap((line) => line.split(','))
  const words = tags.map((tag) => tag.trim()).filter((tag) => tag !== '')
  if (words.length === 0 || words.includes('*')) return undefined
  return words.filter((tag) => !/^W\//i.test(tag)).map((tag) => tag.replaceAll('"', ''))
}

/** Sets `ETag` to the basis of the answer's plan. */
export function tagWithBasis(answer: unknown, reply: FastifyReply): void {
  const { plan } = answer as { readonly plan?: { readonly basis?: unknown } }
  if (typeof plan?.basis === 'string') void reply.header('etag', `"${plan.basis}"`)
}
