import Table from 'cli-table3'
import type { Goal, IdleMemory, Ratio, Row } from './summarize-endpoint.ts'

export interface EndpointResult {
  readonly build: string
  readonly rounds: number
  /** Why HAProxy could not be fetched; empty when it was run. */
  readonly without_haproxy: string
  readonly rows: readonly Row[]
  /** Requests a second over TLS. */
  readonly tls: readonly Ratio[]
  /** What the ring for traces of handovers costs. */
  readonly trace: readonly Ratio[]
  /** Null where it was not measured. */
  readonly idle: IdleMemory | null
  readonly goals: readonly Goal[]
}

/** The goals, then the measurements behind them, as tables. */
export function printEndpoint(result: EndpointResult): string {
  const { build, rounds, without_haproxy, rows, tls, trace, idle, goals } = result
  const style = { head: [], border: [] }
  const judged = new Table({ head: ['', '', 'goal', ''], style })
  for (const { what, value, goal, met } of goals) judged.push([what, value, goal, met ? 'met' : 'missed'])
  for (const { what, value } of tls) judged.push([`requests a second, ${what}`, value, '', ''])
  for (const { what, value } of trace) judged.push([what, value, '', ''])
  const head = [
    'P',
    'way',
    'requests/s',
    'p50 ms',
    'p99 ms',
    'CPU µs a request: between',
    'engine',
    'clients',
  ]
  const measured = new Table({ head, style })
  for (const { way, pipeline, perSecond, p50Ms, p99Ms, cpuMicros } of rows)
    measured.push([
      pipeline,
      way,
      perSecond,
      p50Ms,
      p99Ms,
      cpuMicros.between,
      cpuMicros.engine,
      cpuMicros.clients,
    ])
  const lacks =
    without_haproxy === '' ? '' : `HAProxy cannot be had, so nothing is judged by it: ${without_haproxy}\n`
  const idleness =
    idle === null
      ? ''
      : `idle: ${inMegabytes(idle.rssBytesBefore)} MB without clients, ${inMegabytes(idle.rssBytes)} MB with ${idle.connections} connections\n`
  const table = rows.length === 0 ? '' : `${measured.toString()}\n`
  return `${build}, ${rounds} round(s), medians\n${lacks}${judged.toString()}\n${table}${idleness}`
}

function inMegabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
