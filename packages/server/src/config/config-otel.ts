/** Export of traces. */
export interface TraceSettings {
  /** Target of posted spans. */
  readonly url: string
  /** Values may be secret. */
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Attributes of the resource: `service.name` and others. */
  readonly resource: Readonly<Record<string, string>>
  /** Share of recorded new traces, 0 to 1. */
  readonly ratio: number
  /** Follows the caller's sampling decision. */
  readonly followsParent: boolean
}

type Env = Readonly<Record<string, string | undefined>>
type Fault = (name: string, sentence: string) => void

const DEFAULT_ENDPOINT = 'http://localhost:4318'
const TIMEOUT_MS = 10_000
/** The name for traces alone takes precedence. */
const OTLP = (name: string) => [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`]

/**
 * Reads the standard OpenTelemetry variables; null: neither exporter nor endpoint is set, so traces are off.
 * Calls `fault` for each unusable variable.
 */
export function readOtel(env: Env, fault: Fault): TraceSettings | null {
  const exporter = env['OTEL_TRACES_EXPORTER']
  const isNamed = OTLP('ENDPOINT').some((name) => (env[name] ?? '') !== '')
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || exporter === 'none') return null
  if (!isNamed && (exporter ?? '') === '') return null
  if (exporter !== undefined && !['', 'otlp'].includes(exporter))
    fault('OTEL_TRACES_EXPORTER', 'must be otlp or none')
  const [protocolName = '', protocol] = firstOf(env, OTLP('PROTOCOL'))
  if (protocol !== undefined && protocol !== 'http/json')
    fault(
      protocolName,
      'must be http/json: Fairlead sends nothing else, and collectors take it at the same port',
    )
  return {
    url: readUrl(env, fault),
    headers: Object.assign(
      {},
      ...OTLP('HEADERS')
        .toReversed()
        .map((name) => readPairs(name, env, fault)),
    ),
    timeoutMs: readTimeout(env, fault),
    resource: {
      'service.name': 'fairlead',
      ...readPairs('OTEL_RESOURCE_ATTRIBUTES', env, fault),
      ...(env['OTEL_SERVICE_NAME'] && { 'service.name': env['OTEL_SERVICE_NAME'] }),
    },
    ...readSampler(env, fault),
  }
}

function firstOf(env: Env, names: readonly string[]): readonly [name?: string, text?: string | undefined] {
  const name = names.find((each) => (env[each] ?? '') !== '')
  return name === undefined ? [] : [name, env[name]]
}

function readUrl(env: Env, fault: Fault): string {
  const [name = '', text = DEFAULT_ENDPOINT] = firstOf(env, OTLP('ENDPOINT'))
  const isWhole = name === OTLP('ENDPOINT')[0]
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    fault(name, 'must be an http:// or https:// address')
    return DEFAULT_ENDPOINT
  }
  return isWhole ? text : `${text.replace(/\/$/, '')}/v1/traces`
}

function readTimeout(env: Env, fault: Fault): number {
  const [name = '', text] = firstOf(env, OTLP('TIMEOUT'))
  if (text === undefined) return TIMEOUT_MS
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  fault(name, 'must be milliseconds, 1 to 999999')
  return TIMEOUT_MS
}

/** `key=value,key=value` with percent-encoded values. */
function readPairs(name: string, env: Env, fault: Fault): Readonly<Record<string, string>> {
  const pairs: Record<string, string> = {}
  for (const pair of (env[name] ?? '').split(',').filter((each) => each.trim() !== '')) {
    const [, key, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []
    const text = key === undefined ? null : decode(value ?? '')
    if (key === undefined || text === null)
      fault(name, 'must be pairs `key=value` with commas between them, the values percent-encoded')
    else pairs[key] = text
  }
  return pairs
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

const samplers = ['always_on', 'always_off', 'traceidratio']

function readSampler(env: Env, fault: Fault): Pick<TraceSettings, 'ratio' | 'followsParent'> {
  const named = env['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on'
  const own = named.replace(/^parentbased_/, '')
  if (!samplers.includes(own)) {
    const all = samplers.flatMap((each) => [each, `parentbased_${each}`])
    fault('OTEL_TRACES_SAMPLER', `must be one of ${all.join(', ')}`)
  }
  const followsParent = own !== named
  if (own !== 'traceidratio') return { ratio: own === 'always_off' ? 0 : 1, followsParent }
  const text = env['OTEL_TRACES_SAMPLER_ARG'] || '1'
  const ratio = Number(text)
  if (!(ratio >= 0 && ratio <= 1)) fault('OTEL_TRACES_SAMPLER_ARG', 'must be a number from 0 to 1')
  return { ratio, followsParent }
}
