import Table from 'cli-table3'
import type { Row } from './summarize-clients.ts'

export interface ClientsResult {
  readonly from: string
  readonly to: string
  readonly rounds: number
  readonly rows: readonly Row[]
}

export function printClients({ from, to, rounds, rows }: ClientsResult): string {
  const table = new Table({
    head: [
      ...['library', 'asked/s', 'reached/s', 'errors', 'reconnects', 'lost', 'twice', 'handovers'],
      ...['stall: median ms', 'longest ms', 'calm ms', 'held: median ms', 'longest ms', 'missed'],
    ],
    style: { head: [], border: [] },
  })
  for (const row of rows)
    table.push([
      ...[row.library, row.asked, row.reached, row.errors, row.reconnects, row.lost, row.twice],
      ...[
        row.handovers,
        row.median_stall_ms,
        row.longest_stall_ms,
        row.calm_ms,
        row.median_held_ms,
        row.longest_held_ms,
        row.missed.join(', '),
      ],
    ])
  const kinds = rows.flatMap(({ library, error_kinds }) => error_kinds.map((kind) => `${library}: ${kind}\n`))
  return `${from} → ${to}, ${rounds} round(s)\n${table.toString()}\n${kinds.join('')}`
}
