import Table from 'cli-table3'
import type { Row } from './summarize-crowds.ts'

export interface CrowdsResult {
  readonly build: string
  readonly groups: number
  readonly tls: boolean
  readonly rounds: number
  readonly rows: readonly Row[]
}

export function printCrowds({ build, groups, tls, rounds, rows }: CrowdsResult): string {
  const table = new Table({
    head: [
      ...['clients', 'handovers', 'writes/s', 'errors', 'write stop ms', 'held ms', 'gap ms', 'stall ms'],
      ...['longest stall', 'calm ms', 'held ratio', 'gap ratio', '≤ 2'],
    ],
    style: { head: [], border: [] },
  })
  for (const row of rows)
    table.push([
      ...[row.what, row.handovers, row.per_second, row.errors, row.write_stop_ms, row.held_ms, row.gap_ms],
      ...[row.stall_ms, row.longest_stall_ms, row.calm_ms, row.held_ratio, row.gap_ratio],
      row.met ? 'met' : 'missed',
    ])
  const how = `${groups} group(s)${tls ? ', TLS' : ''}, ${rounds} round(s), medians`
  return `${build}, ${how}\n${table.toString()}\n`
}
