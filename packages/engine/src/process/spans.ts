import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'

/** A finished piece of work in a trace. Ids are hexadecimal, as in W3C Trace Context; times are Unix ms. */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  /** Id of the enclosing span; null if none. */
  readonly parentId: string | null
  readonly name: string
  readonly kind: 'server' | 'client' | 'internal'
  readonly startMs: number
  readonly endMs: number
  /** Never a secret: no argument of a command, no body, no header. */
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  /** True if it threw, or its answer was an error. */
  readonly isError: boolean
}

/** Place of the current work in a trace, and the destination of its spans. */
export interface TracePlace {
  readonly traceId: string
  readonly spanId: string
  readonly record: RecordSpan
}

/** Takes a span, quickly and without an error. */
export type RecordSpan = (span: Span) => void

/** Without a place, the work belongs to no trace yet. */
type Current = TracePlace | { readonly record: RecordSpan; readonly traceId?: never }

const current = new AsyncLocalStorage<Current | undefined>()

/** Runs `work` at this place; undefined: in no trace. */
export function atPlace<T>(place: Current | undefined, work: () => T): T {
  return current.run(place, work)
}

/** Runs `work` in the trace of `traceparent`, within this span, if spans are recorded here. */
export function underTrace<T>(traceparent: string | undefined, spanId: string, work: () => T): T {
  const record = current.getStore()?.record
  const parent = record && readTraceparent(traceparent)
  return parent?.isSampled === true
    ? current.run({ traceId: parent.traceId, spanId, record: record as RecordSpan }, work)
    : work()
}

/** Runs `work` in the trace of a header if its sender wants it recorded; for processes that join a trace. */
export function joinTrace<T>(traceparent: unknown, record: RecordSpan, work: () => T): T {
  const parent = typeof traceparent === 'string' ? readTraceparent(traceparent) : undefined
  if (parent?.isSampled !== true) return work()
  return current.run({ traceId: parent.traceId, spanId: parent.spanId, record }, work)
}

/** Place of the current work in a trace; undefined if none. */
export function currentPlace(): TracePlace | undefined {
  const place = current.getStore()
  return place?.traceId === undefined ? undefined : place
}

/** Records a span from `startMs` until now, for work of more than one function; nothing without a place. */
export function recordSince(
  place: TracePlace | undefined,
  {
    name,
    startMs,
    attributes,
    isError = false,
  }: Pick<Span, 'name' | 'startMs' | 'attributes'> & Partial<Pick<Span, 'isError'>>,
): void {
  if (place === undefined) return
  const { traceId, spanId: parentId, record } = place
  const kind = 'internal'
  record({ traceId, spanId: newSpanId(), parentId, name, kind, attributes, isError, startMs, endMs: nowMs() })
}

/** Current place as a header `traceparent`; undefined if none. */
export function currentTraceparent(): string | undefined {
  const place = current.getStore()
  return place?.traceId === undefined ? undefined : `00-${place.traceId}-${place.spanId}-01`
}

/** True if the current work has a place in a trace. */
export function isTraced(): boolean {
  return current.getStore()?.traceId !== undefined
}

/** Runs `work` as a span of the current trace, or without a span if there is none. */
export async function inSpan<T>(
  {
    name,
    kind = 'internal',
    attributes = {},
  }: Pick<Span, 'name'> & Partial<Pick<Span, 'kind' | 'attributes'>>,
  work: () => Promise<T>,
): Promise<T> {
  const place = current.getStore()
  if (place?.traceId === undefined) return await work()
  const { traceId, spanId: parentId, record } = place
  const spanId = newSpanId()
  const startMs = nowMs()
  let isError = true
  try {
    const result = await current.run({ traceId, spanId, record }, work)
    isError = false
    return result
  } finally {
    record({ traceId, spanId, parentId, name, kind, attributes, isError, startMs, endMs: nowMs() })
  }
}

/** Parses a header `traceparent`; undefined if it is invalid. */
export function readTraceparent(
  header: string | undefined,
): { readonly traceId: string; readonly spanId: string; readonly isSampled: boolean } | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(header ?? '') ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (NONE.test(traceId) || NONE.test(spanId)) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** Versions after 00 may append more. */
const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/
const NONE = /^0+$/

/** Unix ms with fractions: a command takes less than one. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now()
}

/** Returns a random id. */
export function newSpanId(): string {
  return randomBytes(8).toString('hex')
}

/** Returns a random id. */
export function newTraceId(): string {
  return randomBytes(16).toString('hex')
}
