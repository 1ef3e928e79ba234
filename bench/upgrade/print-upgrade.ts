import Table from 'cli-table3'
import type { Details } from './measure-upgrade.ts'
import type { Judged } from './summarize-upgrade.ts'

export interface UpgradeResult {
  readonly from: string
  readonly to: string
  readonly rounds: number
  readonly lost: number
  readonly duplicated: number
  readonly goals: readonly Judged[]
  readonly details: Details
}

/** The goals, then the measurements behind them, as tables. */
export function printUpgrade({ from, to, rounds, lost, duplicated, goals, details }: UpgradeResult): string {
  const judged = new Table({
    head: ['', 'Fairlead', 'beside', '', 'ratio', 'goal', ''],
    style: { head: [], border: [] },
  })
  for (const { what, ours, beside, theirs, unit, ratio, goal, met } of goals)
    judged.push([what, `${ours} ${unit}`, beside, `${theirs} ${unit}`, ratio, goal, met ? 'met' : 'missed'])
  const tables = Object.entries(details).map(([title, rows]) => `\n${inWords(title)}\n${printRows(rows)}\n`)
  const losses = `Fairlead, all runs: ${lost} writes lost, ${duplicated} carried out twice`
  return `${from} → ${to}, ${rounds} round(s), medians\n${judged.toString()}\n${losses}\n${tables.join('')}`
}

function printRows(rows: Details[string]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const table = new Table({ head: columns.map(inWords), style: { head: [], border: [] } })
  for (const row of rows) table.push(columns.map((column) => printCell(row[column])))
  return table.toString()
}

function printCell(cell: Details[string][number][string] | undefined): string {
  if (cell === undefined) return ''
  if (typeof cell === 'object') return `${cell.median} / ${cell.max}`
  return typeof cell === 'number' ? String(Number(cell.toFixed(2))) : cell
}

/** `ledger_ms` is "ledger ms". */
function inWords(name: string): string {
  return name.replaceAll('_', ' ')
}
