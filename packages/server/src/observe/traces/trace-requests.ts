import { atPlace, newSpanId, newTraceId, nowMs, type RecordSpan, readTraceparent } from '@fairlead/engine'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { TraceSettings } from '../../config/config-otel.ts'

interface Begun {
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | null
  readonly startMs: number
}

const FAILED = 500

/**
 * Each request becomes a span: of the trace that its header `traceparent` names, or the first of a new one.
 */
export function traceRequests(http: FastifyInstance, record: RecordSpan, settings: TraceSettings): void {
  const spans = new WeakMap<FastifyRequest, Begun>()
  http.addHook('onRequest', (request, _, done) => {
    const begun = begin(request.headers['traceparent'], settings)
    if (begun === undefined) return atPlace({ record }, done)
    spans.set(request, begun)
    return atPlace({ ...begun, record }, done)
  })
  http.addHook('onResponse', (request, { statusCode }, done) => {
    const begun = spans.get(request)
    const { method, id, routeOptions } = request
    const route = routeOptions.config.operation?.path ?? routeOptions.url
    if (begun !== undefined)
      record({
        ...begun,
        name: route === undefined ? method : `${method} ${route}`,
        kind: 'server',
        endMs: nowMs(),
        isError: statusCode >= FAILED,
        attributes: {
          'http.request.method': method,
          ...(route !== undefined && { 'http.route': route }),
          'http.response.status_code': statusCode,
          'fairlead.request': id,
        },
      })
    done()
  })
}

/** Undefined: it is not to be recorded. */
function begin(
  header: string | string[] | undefined,
  { ratio, followsParent }: TraceSettings,
): Begun | undefined {
  const parent = readTraceparent(typeof header === 'string' ? header : undefined)
  const traceId = parent?.traceId ?? newTraceId()
  const isWanted = parent !== undefined && followsParent ? parent.isSampled : isSampled(traceId, ratio)
  return isWanted
    ? { traceId, spanId: newSpanId(), parentId: parent?.spanId ?? null, startMs: nowMs() }
    : undefined
}

/** By the id alone, so that each program decides alike for one trace. */
function isSampled(traceId: string, ratio: number): boolean {
  const LAST_DIGITS = 13
  return Number.parseInt(traceId.slice(-LAST_DIGITS), 16) < ratio * 16 ** LAST_DIGITS
}
