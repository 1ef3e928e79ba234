import { median } from '../median.ts'

/** Ways to the engine that are compared. */
export const ways = [
  'direct',
  'haproxy',
  'haproxy-default',
  'endpoint',
  'endpoint-untraced',
  'direct-tls',
  'endpoint-tls',
] as const
/** `other-n`: an endpoint whose proxy has other flags of Node. */
export type Way = (typeof ways)[number] | `other-${number}`

/** One run of the load: 50 clients, each with so many SETs under way (`pipeline`). */
export interface Run {
  readonly way: Way
  readonly pipeline: number
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** CPU seconds spent by the process between client and engine, the engine, and the clients. */
  readonly cpu: { readonly between: number; readonly engine: number; readonly clients: number }
}

/** Medians over the rounds; CPU in microseconds a request, since faster runs spend as much in less time. */
export interface Row {
  readonly way: Way
  readonly pipeline: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly cpuMicros: { readonly between: number; readonly engine: number; readonly clients: number }
}

export interface Goal {
  readonly what: string
  readonly value: number
  readonly goal: string
  readonly met: boolean
}

/**
 * With 50 clients, and one request under way or 16: the least permitted share of HAProxy's requests a second.
 */
const leastOfHaproxy: Readonly<Record<number, number>> = { 1: 0.8, 16: 0.65 }
export const IDLE_CONNECTIONS = 10_000
const MOST_IDLE_MB = 200

export function summarizeRuns(runs: readonly Run[]): readonly Row[] {
  const keys = [...new Set(runs.map(({ way, pipeline }) => `${pipeline} ${way}`))]
  return keys
    .map((key) => runs.filter(({ way, pipeline }) => `${pipeline} ${way}` === key))
    .flatMap((same) => {
      const [first] = same
      if (first === undefined) return []
      const middle = (pick: (run: Run) => number, digits: number) => round(median(same.map(pick)), digits)
      const micros = (who: keyof Run['cpu']) => middle((run) => (run.cpu[who] * 1e6) / run.requests, 1)
      return {
        way: first.way,
        pipeline: first.pipeline,
        perSecond: middle(({ perSecond }) => perSecond, 0),
        p50Ms: middle(({ p50Ms }) => p50Ms, 3),
        p99Ms: middle(({ p99Ms }) => p99Ms, 3),
        cpuMicros: { between: micros('between'), engine: micros('engine'), clients: micros('clients') },
      }
    })
}

/**
 * The endpoint beside HAProxy with one thread, because the endpoint has one, too; empty if HAProxy was not
 * run. The endpoint is compared with HAProxy of the same round, because the machine's speed changes: `runs`
 * are in the order of the rounds.
 */
export function judgeRuns(runs: readonly Run[]): readonly Goal[] {
  return Object.entries(leastOfHaproxy).flatMap(([text, least]) => {
    const speeds = (wanted: Way) =>
      runs
        .filter(({ way, pipeline }) => way === wanted && pipeline === Number(text))
        .map(({ perSecond }) => perSecond)
    const theirs = speeds('haproxy')
    if (theirs.length === 0) return []
    const ratio = median(speeds('endpoint').map((ours, n) => ours / (theirs[n] ?? Number.NaN)))
    const what = `requests a second, endpoint / HAProxy, P=${text}`
    return { what, value: round(ratio, 2), goal: `≥ ${least}`, met: ratio >= least }
  })
}

/** One way beside another in the same round: the median over the rounds. */
export interface Ratio {
  readonly what: string
  readonly value: number
}

/** The endpoint over TLS, beside the engine over TLS and beside itself without. */
export function compareTls(runs: readonly Run[]): readonly Ratio[] {
  const pipelines = [...new Set(runs.map(({ pipeline }) => pipeline))]
  return pipelines.flatMap((pipeline) => [
    ratioOf(runs, pipeline, ['endpoint-tls', 'direct-tls'], 'endpoint / direct, both over TLS'),
    ratioOf(runs, pipeline, ['endpoint-tls', 'endpoint'], 'endpoint, over TLS / without'),
  ])
}

/** The endpoint beside one without the ring for traces of handovers: what the ring costs. */
export function compareTraced(runs: readonly Run[]): readonly Ratio[] {
  const pipelines = [...new Set(runs.map(({ pipeline }) => pipeline))]
  const pair = ['endpoint', 'endpoint-untraced'] as const
  return pipelines.flatMap((pipeline) => [
    ratioOf(
      runs,
      pipeline,
      pair,
      'CPU of the endpoint a request, with the ring for traces / without',
      ({ cpu, requests }) => cpu.between / requests,
    ),
    ratioOf(runs, pipeline, pair, 'requests a second, endpoint with the ring for traces / without'),
  ])
}

function ratioOf(
  runs: readonly Run[],
  pipeline: number,
  [one, beside]: readonly [Way, Way],
  what: string,
  pick: (run: Run) => number = ({ perSecond }) => perSecond,
): Ratio {
  const valuesOf = (wanted: Way) =>
    runs.filter((run) => run.way === wanted && run.pipeline === pipeline).map(pick)
  const theirs = valuesOf(beside)
  const value = median(valuesOf(one).map((ours, n) => ours / (theirs[n] ?? Number.NaN)))
  return { what: `${what}, P=${pipeline}`, value: round(value, 2) }
}

/** Memory of a process that only holds idle connections, in bytes. */
export interface IdleMemory {
  readonly connections: number
  readonly rssBytesBefore: number
  readonly rssBytes: number
}

/**
 * If the machine allowed too few files for 10,000 connections, their memory is extrapolated: each further one
 * takes the same.
 */
export function judgeIdle({ connections, rssBytesBefore, rssBytes }: IdleMemory): Goal {
  const each = (rssBytes - rssBytesBefore) / connections
  const megabytes = (rssBytes + each * (IDLE_CONNECTIONS - connections)) / 1e6
  const how = connections === IDLE_CONNECTIONS ? '' : ` (reckoned from ${connections})`
  const what = `MB with ${IDLE_CONNECTIONS} idle connections${how}`
  return { what, value: round(megabytes, 1), goal: `≤ ${MOST_IDLE_MB}`, met: megabytes <= MOST_IDLE_MB }
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
