import { isUtf8 } from 'node:buffer'
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
import { noteMethods } from './allowed-methods.ts'
import { answerError, answerExpectation, answerNoHttp } from './answer-error.ts'
import { createStreams, type StreamLimits } from './answer-stream.ts'
import { authenticate, type OnRefused } from './authenticate.ts'
import { createHostCheck } from './check-host.ts'
import { InvalidInput } from './compile-validator.ts'
import { compileWhenUsed } from './compile-when-used.ts'
import { MOST_USEFUL, watchConnections } from './connections/connections.ts'
import { endConnections, sayFarewell } from './connections/end-connections.ts'
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
