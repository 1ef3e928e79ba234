import { joinTrace, type RecordSpan, type Span } from './spans.ts'

/** Of an answer of the agent or the proxy: spans of theirs, which the server sends on to the collector. */
export const SPANS_HEADER = 'x-fairlead-spans'

/** The spans of a process that answers the server, until an answer takes them along. */
export interface SpanBasket {
  readonly record: RecordSpan
  /** Runs what answers a request, as a part of the trace that its header `traceparent` names. */
  join<T>(traceparent: unknown, work: () => T): T
  /** The header of an answer to a request of a trace; no header where there are no spans. */
  take(traceparent: unknown): Readonly<Record<string, string>>
}

/** A server that was killed asks for none: only the newest are kept. */
const MOST_KEPT = 256
/** Node takes 16 KB of headers. */
const MOST_AT_ONCE = 24
const MOST_CHARACTERS = 12_000

/** Spans wait in memory: most are taken by the answer to the order that they are of, later work by one of the next. */
export function createSpanBasket(): SpanBasket {
  const kept: Span[] = []
  const record: RecordSpan = (span) => {
    if (kept.length >= MOST_KEPT) kept.shift()
    kept.push(span)
  }
  return {
    record,
    join: (traceparent, work) => joinTrace(traceparent, record, work),
    take(traceparent) {
      if (kept.length === 0 || traceparent === undefined) return {}
      return { [SPANS_HEADER]: JSON.stringify(kept.splice(0, MOST_AT_ONCE)) }
    },
  }
}

/** The spans in the header of an answer. Clients speak with the proxy: what is not a span of the usual form is left out. */
export function readCarriedSpans(text: string): readonly Span[] {
  if (text.length > MOST_CHARACTERS) return []
  try {
    const spans: unknown = JSON.parse(text)
    return Array.isArray(spans) ? spans.filter(isSpan) : []
  } catch {
    return []
  }
}

function isSpan(value: unknown): value is Span {
  if (typeof value !== 'object' || value === null) return false
  const { traceId, spanId, parentId, name, kind, startMs, endMs, attributes, isError } = value as Partial<
    Record<keyof Span, unknown>
  >
  return (
    [traceId, spanId, parentId].every(
      (id, n) => typeof id === 'string' && id.length === (n === 0 ? 32 : 16),
    ) &&
    [traceId, spanId, parentId].every((id) => /^[\da-f]+$/.test(String(id))) &&
    isWord(name) &&
    ['server', 'client', 'internal'].includes(String(kind)) &&
    [startMs, endMs].every((ms) => typeof ms === 'number' && ms > 0 && ms < LATEST_MS) &&
    typeof isError === 'boolean' &&
    typeof attributes === 'object' &&
    attributes !== null &&
    Object.entries(attributes).every(([key, each]) => isWord(key) && (isWord(each) || Number.isFinite(each)))
  )
}

/** In the year 2100. */
const LATEST_MS = 4_102_444_800_000

function isWord(value: unknown): value is string {
  return typeof value === 'string' && /^[\w .:/-]{1,100}$/.test(value)
}
