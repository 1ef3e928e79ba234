import { joinTrace, type RecordSpan, type Span } from './spans.ts'

/** Header of answers of the agent or the proxy: their spans, which the server forwards to the collector. */
export const SPANS_HEADER = 'x-fairlead-spans'

/** Spans of a process that answers the server, until an answer carries them. */
export interface SpanBasket {
  readonly record: RecordSpan
  /** Runs the work of a request, as part of the trace in its header `traceparent`. */
  join<T>(traceparent: unknown, work: () => T): T
  /** Returns the header for an answer to a traced request; none without spans. */
  take(traceparent: unknown): Readonly<Record<string, string>>
}

/** A killed server requests none, so only the newest are kept. */
const MOST_KEPT = 256
/** Node accepts 16 KB of headers. */
const MOST_AT_ONCE = 24
const MOST_CHARACTERS = 12_000

/** Creates an empty basket in memory: the order's answer takes most of its spans, a later answer the rest. */
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

/** Reads the spans in an answer's header. Clients talk to the proxy, so unusual spans are ignored. */
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
