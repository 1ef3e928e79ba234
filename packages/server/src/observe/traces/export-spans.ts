import { messageOf, type RecordSpan, type Span } from '@fairlead/engine'
import type { Logger } from 'pino'
import type { TraceSettings } from '../../config/config-otel.ts'

/**
 * Sends spans to a collector. Disposed of, it sends what it still has, once, and waits for no more than
 * END_WITHIN_MS.
 */
export interface SpanExporter extends AsyncDisposable {
  readonly record: RecordSpan
}

/** As the SDKs of OpenTelemetry do by default. */
const MOST_WAITING = 2_048
const MOST_AT_ONCE = 512
const EVERY_MS = 2_000
/** The server stops meanwhile: a collector that hangs would keep it for twice its time-out. */
const END_WITHIN_MS = 2_000
/** What a collector answers when it wants a request again later. */
const AGAIN = [429, 502, 503, 504]

/**
 * Spans are sent in groups, beside the work that they are of. While the collector is away the newest are
 * kept, up to MOST_WAITING, and the log says once that it is away, and how many were dropped when it is back.
 */
export function exportSpans(
  settings: TraceSettings,
  { version, log }: { readonly version: string; readonly log: Pick<Logger, 'warn' | 'info'> },
): SpanExporter {
  let waiting: Span[] = []
  const trouble = { said: false, dropped: 0 }
  let sending: Promise<void> | undefined
  const ending = new AbortController()
  const send = async () => {
    for (let more = true; more && waiting.length > 0; ) {
      const some = waiting.slice(0, MOST_AT_ONCE)
      waiting = waiting.slice(MOST_AT_ONCE)
      const outcome = await post(printOtlp(some, settings.resource, version), settings, ending.signal)
      more = outcome === 'taken'
      if (outcome === 'again') waiting = [...some, ...waiting]
      tell(outcome, some.length, trouble, log)
    }
  }
  const begin = () => {
    sending ??= send().finally(() => {
      sending = undefined
    })
    return sending
  }
  const timer = setInterval(() => void begin(), EVERY_MS).unref()
  return {
    record(span) {
      if (waiting.length >= MOST_WAITING) {
        waiting.shift()
        trouble.dropped += 1
      }
      waiting.push(span)
      if (waiting.length === MOST_AT_ONCE) void begin()
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await inTime(ending, () => Promise.resolve(sending).then(begin))
    },
  }
}

/** Aborts `ending` when the work has taken END_WITHIN_MS. */
async function inTime(ending: AbortController, work: () => Promise<void>): Promise<void> {
  const timer = setTimeout(() => ending.abort(), END_WITHIN_MS)
  await work()
  clearTimeout(timer)
}

/** `refused`: these spans will never be taken. */
type Outcome = 'taken' | 'again' | { readonly refused: string }

async function post(
  body: string,
  { url, headers, timeoutMs }: TraceSettings,
  ending: AbortSignal,
): Promise<Outcome> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      redirect: 'error',
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ending]),
    })
    await answer.body?.cancel()
    if (answer.ok) return 'taken'
    return AGAIN.includes(answer.status) ? 'again' : { refused: `it answered ${answer.status}` }
  } catch (cause) {
    // A fault of the settings, as a header that is none, is no reason to keep spans.
    return cause instanceof TypeError && cause.cause === undefined ? { refused: messageOf(cause) } : 'again'
  }
}

function tell(
  outcome: Outcome,
  count: number,
  trouble: { said: boolean; dropped: number },
  log: Pick<Logger, 'warn' | 'info'>,
): void {
  if (outcome === 'taken') {
    const { said, dropped } = trouble
    if (said || dropped > 0) log.info({ dropped }, 'the collector takes spans again')
    Object.assign(trouble, { said: false, dropped: 0 })
    return
  }
  if (outcome !== 'again') trouble.dropped += count
  if (trouble.said) return
  trouble.said = true
  log.warn(
    { why: outcome === 'again' ? 'it does not answer, or wants them later' : outcome.refused },
    'the collector does not take spans',
  )
}

/** Kinds of spans in OTLP. */
const kinds: Readonly<Record<Span['kind'], number>> = { internal: 1, server: 2, client: 3 }
const ERROR = 2

/** The body of an export request of OTLP/HTTP, in JSON. */
function printOtlp(
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
