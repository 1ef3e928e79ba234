import { isUtf8 } from 'node:buffer'
import { isIP } from 'node:net'
import { Refusal } from '@fairlead/api'
import Fastify, {
  errorCodes,
  type FastifyBodyParser,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import type { Logger } from 'pino'
import type { Identify } from '../identity/sessions/identify.ts'
import { answerError, answerExpectation, answerNoHttp } from './answer-error.ts'
import { createStreams, type StreamLimits } from './answer-stream.ts'
import { authenticate, type OnRefused } from './authenticate.ts'
import { InvalidInput } from './compile-validator.ts'
import { compileWhenUsed } from './compile-when-used.ts'
import { endConnections, MOST_USEFUL, sayFarewell, watchConnections } from './connections/connections.ts'
import { refuseNoText } from './input/query-text.ts'
import { createLongRequestLimiter, type PlaceLimits, placesOf } from './long-request-limiter.ts'
import { compressAnswers } from './output/compress-answers.ts'
import { nameRequests, requestIdOf } from './request-ids.ts'
import { securityHeaders } from './security-headers.ts'

/** The largest body is an upgrade request with modules. */
const BODY_LIMIT_BYTES = 256 * 1024
/** Closes connections without complete headers. Node checks at the interval below. */
const HEADERS_WITHIN_MS = 10_000
const LOOK_EVERY_MS = 5_000

/** Parts and limits of an HTTP server. */
export interface HttpParts {
  readonly identify: Identify
  readonly onRefused: OnRefused
  readonly log: Logger
  readonly streamLimits?: Partial<StreamLimits>
  /** Limits of streams and waiting requests. Default: from `mostConnections`. */
  readonly placeLimits?: PlaceLimits
  /**
   * Names that requests may be sent to, in addition to `localhost` and addresses. Without it they are not
   * looked at.
   */
  readonly hostNames?: readonly string[]
  /** Maximum number of connections, see watchConnections. Default: MOST_USEFUL. */
  readonly mostConnections?: number
  /** Adds hooks before all others. */
  readonly first?: ((app: FastifyInstance) => void) | undefined
  /** Answers an unknown path with a page. Returns whether it did. */
  readonly pageAt?: ((request: FastifyRequest, reply: FastifyReply) => boolean) | undefined
}

/** Creates an HTTP server without routes: strict input, uniform errors, the contract's permissions. */
export function createHttp(deps: HttpParts): FastifyInstance {
  const app = Fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    genReqId: requestIdOf,
    requestTimeout: 30_000,
    // Its default, 10 s, also bounds the stop, and a busy machine needs longer for the last connections.
    pluginTimeout: 60_000,
    http: { headersTimeout: HEADERS_WITHIN_MS, connectionsCheckingInterval: LOOK_EVERY_MS },
    forceCloseConnections: 'idle',
    // Serves requests during the stop: keep-alive clients may not know yet.
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => answerError(error, request, reply, deps.log),
    clientErrorHandler: answerNoHttp,
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 256 },
  })
  deps.first?.(app)
  app.server.on('checkExpectation', answerExpectation)
  // `listen` rejects on its own errors. Later errors mean one failed accept, for lack of files or memory.
  app.addHook('onListen', async () => {
    app.server.on('error', (err) => deps.log.error({ err }, 'a connection could not be accepted'))
  })
  const { mostConnections: most = MOST_USEFUL } = deps
  const connections = watchConnections(app.server, { most, log: deps.log })
  app.decorate('connections', connections)
  compileWhenUsed(app)
  const refuseUnknown = answerUnknown(app, deps.pageAt)
  app.setErrorHandler((error, request, reply) => {
    // Faults of a body only matter if the path accepts one.
    const told = request.is404 && !(error instanceof Refusal) ? refuseUnknown(request, reply) : error
    answerError(told, request, reply, deps.log)
  })
  readJson(app)
  nameRequests(app)
  app.decorate('serverLog', deps.log)
  app.decorateRequest('caller', null)
  const places = createLongRequestLimiter(deps.placeLimits ?? placesOf(most))
  const streams = createStreams({ ...deps, places })
  app.decorate('places', places)
  app.decorate('streams', streams)
  app.addHook('preClose', async () => {
    await streams.close()
    await sayFarewell(app.server, connections)
    await endConnections(connections)
  })
  compressAnswers(app)
  const checkHost = deps.hostNames === undefined ? () => undefined : createHostCheck(deps.hostNames)
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers(securityHeaders)
    checkHost(request)
    done()
  })
  app.addHook('onRequest', authenticate(deps.identify, deps.onRefused))
  app.addHook('preValidation', ({ url }, _, done) => {
    refuseNoText(url)
    done()
  })
  return app
}

/** Handles unknown paths and methods. Returns a function that creates the refusal. */
function answerUnknown(app: FastifyInstance, pageAt: HttpParts['pageAt'] = () => false) {
  const methodsAt = noteMethods(app)
  const refuse = (request: FastifyRequest, reply: FastifyReply): Refusal => {
    const path = request.url.split('?')[0] ?? ''
    const methods = methodsAt(path)
    if (methods.length === 0)
      return new Refusal(
        'not_found',
        `there is nothing at ${request.method} ${path}; GET /openapi.json lists every path`,
      )
    void reply.header('allow', methods.join(', '))
    return new Refusal('method_not_allowed', `${path} has no ${request.method}: send ${methods.join(' or ')}`)
  }
  app.setNotFoundHandler((request, reply) => {
    const isThere = methodsAt(request.url.split('?')[0] ?? '').length > 0
    if (!isThere && pageAt(request, reply)) return
    throw refuse(request, reply)
  })
  return refuse
}

/** The position where JSON ends, if V8 reports it. Never the text, which may contain a password. */
function describeBadJson(error: Error, body: string): Error {
  try {
    JSON.parse(body)
    return error
  } catch (cause) {
    const words = cause instanceof Error ? cause.message : ''
    const [place] = / at position \d+ \(line \d+ column \d+\)/.exec(words) ?? []
    const where = place ?? (words.includes('end of JSON') ? ': it ends too early' : '')
    return notUnderstood(`it is not valid JSON${where}`)
  }
}

function notUnderstood(why: string): InvalidInput {
  return new InvalidInput([{ field: undefined, message: `the body cannot be understood: ${why}` }])
}

/**
 * Accepts JSON; an empty body counts as none. The content type may be missing, except from web pages
 * (`Origin`): browsers send such bodies without a preflight, and could cause failed logins.
 */
function readJson(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  const parse: FastifyBodyParser<Buffer> = (request, body, done) => {
    if (body.length === 0) return done(null, undefined)
    // Ignores `charset`. As text, other bytes would become U+FFFD, and change names.
    if (!isUtf8(body)) return done(notUnderstood('it is not UTF-8'))
    const text = body.toString()
    void parseJson(request, text, (error, value) =>
      done(error === null ? null : describeBadJson(error, text), value),
    )
  }
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, parse)
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    const { 'content-type': type, origin } = request.headers
    const isNothing = body.length === 0 || type === undefined
    if (isNothing && origin === undefined) void parse(request, body, done)
    else done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE())
  })
}

/** A path's methods, sorted; empty if it does not exist. */
type MethodsAt = (path: string) => readonly string[]

interface Place {
  readonly pattern: RegExp
  readonly methods: Set<string>
}

/** Records all routes added later. */
function noteMethods(app: FastifyInstance): MethodsAt {
  const places = new Map<string, Place>()
  app.addHook('onRoute', ({ url, method }) => {
    const place = places.get(url) ?? { pattern: patternOf(url), methods: new Set() }
    places.set(url, place)
    for (const one of [method].flat()) place.methods.add(one)
  })
  return (path) => {
    const plain = path.replace(/\/+/g, '/').replace(/(.)\/$/, '$1')
    const found = [...places.values()].filter(({ pattern }) => pattern.test(plain))
    return [...new Set(found.flatMap(({ methods }) => [...methods]))].toSorted()
  }
}

/** Parses a route path like Fastify: `:name` is any segment, `:name(…)` a segment of this form. */
function patternOf(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (!part.startsWith(':')) return part.replace(/[^\w-]/g, '\\$&')
    return /\(\^(.*)\$\)$/.exec(part)?.[1]?.replace('.*', '[^/]*') ?? '[^/]+'
  })
  return new RegExp(`^${parts.join('/')}$`)
}

/**
 * Refuses requests to other names. A web page can point its own name at this machine, and its browser would
 * take us for the page's server; an address or `localhost` is safe. Throws Refusal invalid_request.
 */
function createHostCheck(names: readonly string[]): (request: Pick<FastifyRequest, 'raw'>) => void {
  const ours = new Set(['localhost', ...names])
  return ({ raw }) => {
    if (raw.url?.startsWith('/') !== true) throw new Refusal('invalid_request', 'the path must begin with /')
    const { host } = raw.headers
    if (host === undefined) return // HTTP/1.0: not used by browsers
    if (countHosts(raw.rawHeaders) > 1) throw new Refusal('invalid_request', 'Host: came more than once')
    if (ours.has(host)) return
    const name = nameOf(host)
    if (ours.has(name) || isIP(name) !== 0) return
    throw new Refusal(
      'invalid_request',
      'Host: is not a name of this server; the operator can add names with FAIRLEAD_HOST_NAMES',
    )
  }
}

/** Removes the port, the brackets of IPv6, and a final dot. */
function nameOf(host: string): string {
  const bare = host.replace(/:\d{1,5}$/, '').toLowerCase()
  return bare.startsWith('[') && bare.endsWith(']') ? bare.slice(1, -1) : bare.replace(/\.$/, '')
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const name = rawHeaders[n] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count
}
