import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type ErrorCode, type ErrorObstacle, errors, Refusal, type RequestObstacle } from '@fairlead/api'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { splitScheme } from '../identity/sessions/read-basic.ts'
import { agentAway, takenOver } from '../nodes/agent-away.ts'
import { AgentUnreachable, StaleEpoch } from '../nodes/agent-link.ts'
import { InvalidInput } from './compile-validator.ts'
import { securityHeaders } from './security-headers.ts'

/** Turns every error into an answer: {error_code, message}, obstacles if a rule refuses, never a stack. */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Logger): void {
  const { code, message, obstacles } = explain(error, request, log)
  if (errors[code].status === 503 || code === 'too_many_requests')
    void reply.header('retry-after', String(retryAfter(error)))
  void reply.headers({ ...securityHeaders, 'cache-control': 'no-store' }) // an error may precede the hooks
  if (errors[code].status === 401) void reply.header('www-authenticate', challengesFor(request, code))
  void reply.status(errors[code].status).send({ error_code: code, message, ...(obstacles && { obstacles }) })
}

/**
 * Includes Basic for programs that send a password only on request (wget, Python's urllib, `curl --anyauth`).
 * Excludes it for browsers, which would prompt, and after a refused Basic, which may be switched off.
 */
function challengesFor({ headers }: FastifyRequest, code: ErrorCode): string | string[] {
  const bearer = 'Bearer realm="fairlead"'
  const isBrowser = /^Mozilla\/(?!.*PowerShell\/)/.test(headers['user-agent'] ?? '')
  const { scheme } = splitScheme(headers.authorization ?? '')
  if (isBrowser || (scheme === 'basic' && code === 'unauthorized')) return bearer
  return [bearer, 'Basic realm="fairlead", charset="UTF-8"']
}

function retryAfter(error: unknown): number {
  return (error instanceof Refusal ? error.retryAfterSeconds : undefined) ?? 1
}

/** Answers bytes that are not HTTP, if the socket is still writable. */
export function answerNoHttp(
  error: { readonly code?: string; readonly rawPacket?: unknown },
  socket: Socket,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const message = isTls(error) ? TLS_HERE : (noHttp[error.code ?? ''] ?? 'this is no HTTP request')
  socket.end(printRefusal(message))
}

/** A complete answer to bytes that are no request. */
export function printRefusal(message: string): string {
  const body = JSON.stringify({ error_code: 'invalid_request', message })
  const head = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
    ...securityHeaders,
  }
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 400 Bad Request\r\n${lines.join('')}\r\n${body}`
}

/** The first byte of a TLS handshake. */
export const TLS_HANDSHAKE = 0x16
const TLS_HERE = 'this port speaks plain HTTP: use http://, or the port of HTTPS (FAIRLEAD_HTTPS_PORT)'

/** Clients often show such an answer as a broken one. */
function isTls({ rawPacket }: { readonly rawPacket?: unknown }): boolean {
  return Buffer.isBuffer(rawPacket) && rawPacket[0] === TLS_HANDSHAKE
}

/** Refuses `Expect:` except `100-continue`, without reading on. */
export function answerExpectation(_: unknown, response: Pick<ServerResponse, 'writeHead'>): void {
  const message = 'Expect: can be 100-continue only'
  const body = JSON.stringify({ error_code: 'invalid_request', message })
  const head = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }
  response.writeHead(errors.invalid_request.status, { ...securityHeaders, ...head }).end(body)
}

const LONG_HEADERS = 'the headers of the request are too large'

/** Keyed by Node's error code. */
const noHttp: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: LONG_HEADERS,
  ERR_HTTP_REQUEST_TIMEOUT: 'the request did not end in time',
}

interface Answer {
  readonly code: ErrorCode
  readonly problem: string
  /** Advice for the user; undefined: the problem is clear. */
  readonly wayOut?: string | undefined
  /** Set if there are several. */
  readonly obstacles?: readonly RequestObstacle[] | undefined
}

/** Statuses of faults in the request, or obstacles in the cluster: docs/decisions/0007. */
const OF_RULES: readonly number[] = [400, 406, 409]

const mayBeDone = 'what was asked for may have been done: look, before it is asked for again'

function explain(
  error: unknown,
  request: FastifyRequest,
  log: Logger,
): { readonly code: ErrorCode; readonly message: string; readonly obstacles?: readonly ErrorObstacle[] } {
  const { code, isCommitSent } = error as { code?: string; isCommitSent?: boolean }
  const after = code === 'FAILED_AFTER_COMMIT' ? (error as Error).cause : undefined
  const answer = explainOne(after ?? error, request, log)
  const isUnknown = (after !== undefined || isCommitSent === true) && answer.code === 'unavailable'
  if (isUnknown) return { code: 'outcome_unknown', message: `${answer.problem}; ${mayBeDone}` }
  const { problem, wayOut } = answer
  const told = { code: answer.code, message: wayOut === undefined ? problem : `${problem}; ${wayOut}` }
  if (!OF_RULES.includes(errors[told.code].status)) return told
  return { ...told, obstacles: (answer.obstacles ?? [told]).map(obstacleToWire) }
}

function explainOne(error: unknown, request: FastifyRequest, log: Logger): Answer {
  if (error instanceof Refusal) return error
  if (error instanceof InvalidInput) {
    const obstacles = error.faults.map((fault) => ({ code: 'invalid_request' as const, ...fault }))
    return { code: 'invalid_request', problem: error.message, obstacles }
  }

  if (error instanceof StaleEpoch) {
    log.warn({ why: error.message, ...nameOf(request) }, 'an epoch is stale')
    return explainOne(takenOver(), request, log)
  }
  // Any operation may need the agent. The error's text has a path of this machine: log only.
  if (error instanceof AgentUnreachable) {
    log.warn({ why: error.message, ...nameOf(request) }, 'the agent does not answer')
    return explainOne(agentAway(), request, log)
  }

  const known = explainStore(error, log) ?? explainRequest(error)
  if (known !== undefined) return known
  log.error({ err: error, ...nameOf(request) }, 'a request failed')
  return { code: 'internal_error', problem: 'a fault of ours', wayOut: `quote ${request.id}` }
}

/** For the log, without the query, which may hold users' input. */
function nameOf({ id, method, url }: FastifyRequest) {
  return { request: id, method, url: url.split('?')[0] }
}

/** Explains errors of the store. */
function explainStore(error: unknown, log: Logger): Answer | undefined {
  const { code } = error as { code?: string }
  if (code === 'SQLITE_FULL' || code?.startsWith('SQLITE_IOERR')) {
    log.error({ err: error }, 'the store cannot write to its disk')
    return {
      code: 'unavailable',
      problem: 'the disk of the store is full or fails',
      wayOut: 'nothing was changed',
    }
  }
  if (code === 'STORE_AWAY') {
    log.error({ err: error }, 'the store does not answer')
    return {
      code: 'unavailable',
      problem: 'the store of the cluster does not answer right now',
      wayOut: 'try again',
    }
  }
  return undefined
}

/** Explains faults that Fastify found in a request. */
function explainRequest(error: unknown): Answer | undefined {
  const { code, statusCode, message } = error as { code?: string; statusCode?: number; message?: string }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return {
      code: 'invalid_request',
      problem: 'the body must be JSON: send `Content-Type: application/json`',
    }
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return {
      code: 'invalid_request',
      problem: `the request cannot be understood: ${message ?? 'it is malformed'}`,
    }
  }
  return undefined
}

/** An obstacle in the words of the wire. */
export function obstacleToWire({ code, message, field }: RequestObstacle): ErrorObstacle {
  return { error_code: code, message, field: field ?? null }
}
