import { rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import {
  EPOCH_HEADER,
  type EpochFence,
  type Input,
  type Operation,
  type Output,
  proxyOperations,
  Refusal,
  readEpoch,
} from '@fairlead/api/of-proxies'
import {
  createSpanBasket,
  inSpan,
  messageOf,
  REQUEST_ID_HEADER,
  readRequestId,
  type SpanBasket,
  underRequest,
} from '@fairlead/engine'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { crumbOf, during } from '../heartbeat/breadcrumb.ts'
import type { Log } from '../listen/cut-log.ts'
import { type HoldTrace, traceHolds } from './trace-holds.ts'

/** Handlers of the proxy's operations. */
export type ProxyHandlers = {
  readonly [Name in keyof typeof proxyOperations]: (
    input: Input<(typeof proxyOperations)[Name]>,
  ) => Promise<Output<(typeof proxyOperations)[Name]>>
}

/** Enough for a spec with a chain of certificates. */
const MAX_BODY_BYTES = 256 * 1024

/** The parts that check and answer requests. */
interface ControlParts {
  readonly handlers: ProxyHandlers
  readonly fence: EpochFence
  readonly log: Log
}

/** ControlParts, and spans that wait for the next answer. */
interface AnsweringParts extends ControlParts {
  readonly spans: SpanBasket
  readonly holds: HoldTrace
}

/**
 * Serves the proxy's operations over the Unix socket at `path`. The program's umask (main.ts) closes it to
 * other users from the start: a later chmod is too late if a root agent has already given the socket to the
 * server.
 */
export async function serveControl(path: string, parts: ControlParts): Promise<AsyncDisposable> {
  const answering = { ...parts, spans: createSpanBasket(), holds: traceHolds() }
  const server = createServer((request, response) => {
    const id = readRequestId(request.headers[REQUEST_ID_HEADER])
    void underRequest(id, () =>
      answering.spans.join(request.headers['traceparent'], () => answer(request, response, answering)),
    )
  })
  await rm(path, { force: true })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(path, () => resolve())
  await promise
  server.off('error', reject)
  // If a connection cannot be accepted, for lack of files or memory, only that connection fails.
  server.on('error', ({ message }) => parts.log('an order could not be accepted', { why: message }))
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      const { promise: closed, resolve: tell } = Promise.withResolvers<void>()
      server.close(() => tell())
      await closed
    },
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  parts: AnsweringParts,
): Promise<void> {
  const { spans, log } = parts
  const traceparent = request.headers['traceparent']
  try {
    const body = await carryOut(request, parts)
    send(response, 200, body, spans.take(traceparent))
  } catch (cause) {
    const refusal = cause instanceof Refusal ? cause : null
    const message = messageOf(cause)
    if (refusal === null) log('request failed', { url: request.url ?? '', message })
    const body = { error_code: refusal?.code ?? 'internal_error', message }
    send(response, refusal?.status ?? 500, body, spans.take(traceparent))
  }
}

async function carryOut(
  request: IncomingMessage,
  { handlers, fence, log, holds }: AnsweringParts,
): Promise<unknown> {
  const { name, params, search } = route(request)
  const op: Operation = proxyOperations[name]
  await passFence(op, request, fence)
  const body = op.body ? parse(await readBody(request), op.body) : undefined
  // Checked again: another server may have taken over while the body was on its way.
  await passFence(op, request, fence)
  if (op.params && !Value.Check(op.params, params))
    throw new Refusal('invalid_request', 'the id is not valid')
  const query = op.query ? Value.Convert(op.query, search) : undefined
  if (op.query && !Value.Check(op.query, query))
    throw new Refusal('invalid_request', 'the query is not valid')
  // The schemas above have checked the parts, so the input has the operation's type.
  const handler = handlers[name] as (input: unknown) => Promise<unknown>
  const order = `${name} ${params['id'] ?? ''}`.trimEnd()
  const span = { name: `${op.method} ${op.path}`, kind: 'server', attributes: ofProxy } as const
  const about = { name, id: params['id'] ?? '', body }
  const result = await holds.around(about, () =>
    inSpan(span, () =>
      during('carries out the order', crumbOf(order), () => handler({ params, query, body })),
    ),
  )
  // Not earlier: clients may be held.
  if (op.fenced === true) setImmediate(() => log('an order', { method: op.method, url: request.url ?? '' }))
  return result
}

const ofProxy = { 'fairlead.part': 'proxy' }

/** Checks the epoch of any request that has one. */
async function passFence(op: Operation, { headers }: IncomingMessage, fence: EpochFence): Promise<void> {
  const epoch = headers[EPOCH_HEADER]
  if (typeof epoch === 'string') await fence.admit(readEpoch(epoch))
  else if (op.fenced === true) fence.admitUnnamed()
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

/** Returns the requested operation, its path parameters, and the query. */
function route({ method, url = '' }: IncomingMessage) {
  const place = URL.parse(url, 'http://proxy')
  if (place === null) throw new Refusal('not_found', `there is no ${method} ${url} here`)
  const { pathname, searchParams } = place
  const search = Object.fromEntries(searchParams)
  for (const each of patterns) {
    const found = method === each.method ? each.pattern.exec(pathname) : null
    if (found !== null) return { name: each.name, params: { ...found.groups }, search }
  }
  throw new Refusal('not_found', `there is no ${method} ${url} here`)
}

/** Made once, because a handover waits for some of these operations. */
const patterns = Object.entries(proxyOperations).map(([name, { method, path }]) => ({
  name: name as keyof typeof proxyOperations,
  method,
  pattern: new RegExp(`^${path.replace(/:(\w+)/g, '(?<$1>[^/?]+)')}$`),
}))

function parse(text: string, schema: TSchema): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Refusal('invalid_request', 'the body is not JSON')
  }
  if (Value.Check(schema, value)) return value
  const [fault] = Value.Errors(schema, value)
  throw new Refusal('invalid_request', `${fault?.instancePath} ${fault?.message}`.trim())
}

/** Reads by events: an iterator costs clients that are held half a millisecond. */
function readBody(request: IncomingMessage): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const chunks: Buffer[] = []
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk)
    else {
      reject(new Refusal('invalid_request', `the body has more than ${MAX_BODY_BYTES} bytes`))
      request.pause()
    }
  })
  request.once('end', () => resolve(Buffer.concat(chunks).toString('utf8'))).once('error', reject)
  return promise
}
