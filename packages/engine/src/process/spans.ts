import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'

/** A piece of work that has ended, as a part of a trace. Ids are hexadecimal, as in W3C Trace Context; times are Unix milliseconds. */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  /** The span of which it is a part; null: of none. */
  readonly parentId: string | null
  readonly name: string
  readonly kind: 'server' | 'client' | 'internal'
  readonly startMs: number
  readonly endMs: number
  /** Never a secret: no argument of a command, no body, no header. */
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  /** It threw, or answered that something is wrong. */
  readonly isError: boolean
}

/** The place in a trace to which the current work belongs, and where its spans go. */
export interface TracePlace {
  readonly traceId: string
  readonly spanId: string
  readonly record: RecordSpan
}

/** Takes a span. It must not throw, and not take long. */
export type RecordSpan = (span: Span) => void

/** Without a place: the work belongs to no trace yet. */
type Current = TracePlace | { readonly record: RecordSpan; readonly traceId?: never }

const current = new AsyncLocalStorage<Current | undefined>()

/** Runs `work` at this place; with undefined, in no trace. */
export function atPlace<T>(place: Current | undefined, work: () => T): T {
  return current.run(place, work)
}

/** Runs `work` as a part of the trace that `traceparent` names, and of this span in it, if spans are recorded here. */
export function underTrace<T>(traceparent: string | undefined, spanId: string, work: () => T): T {
  const record = current.getStore()?.record
  const parent = record && readTraceparent(traceparent)
  return parent?.isSampled === true
    ? current.run({ traceId: parent.traceId, spanId, record: record as RecordSpan }, work)
    : work()
}

/** Runs `work` as a part of the trace that a header names, and that its sender wants recorded; in another process than the one that began the trace. */
export function joinTrace<T>(traceparent: unknown, record: RecordSpan, work: () => T): T {
  const parent = typeof traceparent === 'string' ? readTraceparent(traceparent) : undefined
  if (parent?.isSampled !== true) return work()
  return current.run({ traceId: parent.traceId, spanId: parent.spanId, record }, work)
}

/** The place in a trace of the current work; undefined: there is none. */
export function currentPlace(): TracePlace | undefined {
  const place = current.getStore()
  return place?.traceId === undefined ? undefined : place
}

/** Records a span of this place that no function call spans: from `startMs` until now. Without a place, nothing. */
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

/** The current place as a header `traceparent`; undefined: there is none. */
export function currentTraceparent(): string | undefined {
  const place = current.getStore()
  return place?.traceId === undefined ? undefined : `00-${place.traceId}-${place.spanId}-01`
}

/** Whether work has a place in a trace now. */
export function isTraced(): boolean {
  return current.getStore()?.traceId !== undefined
}

/** Runs `work` as a span of the current trace; where there is none, `work` alone. */
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

/** What a header `traceparent` says; undefined: it is none. */
export function readTraceparent(
  header: string | undefined,
): { readonly traceId: string; readonly spanId: string; readonly isSampled: boolean } | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(header ?? '') ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (NONE.test(traceId) || NONE.test(spanId)) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** Versions after 00 may have more behind it. */
const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/
const NONE = /^0+$/

/** Unix milliseconds with their fractions: a command takes less than one. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now()
}

/** By chance. */
export function newSpanId(): string {
  return randomBytes(8).toString('hex')
}

/** By chance. */
export function newTraceId(): string {
  return randomBytes(16).toString('hex')
}
