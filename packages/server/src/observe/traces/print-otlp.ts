import type { Span } from '@fairlead/engine'

/** What OTLP calls the kinds of spans. */
const kinds: Readonly<Record<Span['kind'], number>> = { internal: 1, server: 2, client: 3 }
const ERROR = 2

/** The body of an export request of OTLP/HTTP, in JSON. */
export function printOtlp(
  spans: readonly Span[],
  resource: Readonly<Record<string, string>>,
  version: string,
): string {
  const scopeSpans = [{ scope: { name: 'fairlead', version }, spans: spans.map(spanOf) }]
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans }] })
}

function spanOf({ traceId, spanId, parentId, name, kind, startMs, endMs, attributes, isError }: Span) {
  return {
    traceId,
    spanId,
    name,
    kind: kinds[kind],
    ...(parentId !== null && { parentSpanId: parentId }),
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(Math.max(startMs, endMs)),
    attributes: attributesOf(attributes),
    status: isError ? { code: ERROR } : {},
  }
}

/** More digits than a number of JavaScript has. */
function nanoseconds(ms: number): string {
  const whole = Math.floor(ms)
  return `${whole}${String(Math.floor((ms - whole) * 1e6)).padStart(6, '0')}`
}

function attributesOf(attributes: Readonly<Record<string, string | number | boolean>>) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOfAttribute(value) }))
}

function valueOfAttribute(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
