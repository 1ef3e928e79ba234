import Table from 'cli-table3'
import { MOST_P99_MS, type Row } from './summarize-neighbours.ts'

export interface NeighboursResult {
  readonly build: string
  readonly seconds: number
  readonly rows: readonly Row[]
}

export function printNeighbours({ build, seconds, rows }: NeighboursResult): string {
  const table = new Table({
    head: [
      ...['what others do', 'at', 'p50 ms', 'p99 ms', 'max ms', 'longest turn ms', 'turn p99 ms', 'rounds'],
      ...[
        'bare p99 ms',
        'bare max ms',
        'bare rounds',
        'HAProxy p99 ms',
        'HAProxy rounds',
        `p99 < ${MOST_P99_MS} ms`,
      ],
    ],
    style: { head: [], border: [] },
  })
  for (const row of rows)
    table.push([
      ...[row.what, row.at, row.p50, row.p99, row.max, row.turn, row.turn99, row.rounds],
      ...[row.bare?.p99 ?? '', row.bare?.max ?? '', row.bare === null ? '' : row.bare_rounds],
      ...(row.haproxy === null ? ['', ''] : [row.haproxy.p99, row.haproxy_rounds]),
      row.met ? 'met' : 'missed',
    ])
  return `${build}, ${seconds} s each\n${table.toString()}\n`
}
