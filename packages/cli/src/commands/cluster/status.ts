import type { Context } from '../../link/open-context.ts'
import { type Cell, drawTable, widthOf } from '../../output/draw-table.ts'
import { foldText } from '../../output/fold-text.ts'
import { type Column, printList, printOne } from '../../output/print-answer.ts'
import { showSeconds } from '../../output/show-quantity.ts'
import { showTime } from '../../output/show-time.ts'
import { inOneLine } from '../../output/without-orders.ts'
import { readStatus, type Status, type StatusLine } from './read-status.ts'

/** Maximum number of lines of each kind on a terminal: about ten in total. */
const MOST = { needs_you: 5, moves: 3 } as const

/** Prints what needs a person, what is in progress, and the number of outdated databases. */
export async function showStatus(context: Context): Promise<void> {
  const { terminal, answer } = context
  const row = await readStatus(context)
  const isTable = answer.form === 'table' || answer.form === 'wide'
  if (answer.form === 'name') {
    printList(terminal, { rows: row.needs_you, columns: [], nameOf: ({ name }) => name }, answer)
  } else if (!isTable || answer.columns !== undefined || !terminal.outIsTerminal) {
    printOne(terminal, { row, columns: facts, nameOf: ({ server }) => server }, answer)
    if (!isTable || answer.columns !== undefined) return
    for (const [kind, line] of [
      ...row.needs_you.map((one) => ['needs_you', one] as const),
      ...row.moves.map((one) => ['moves', one] as const),
    ])
      terminal.out(`${[kind, line.name, line.state, line.why, line.next].map(inOneLine).join('\t')}\n`)
  } else draw(context, row)
}

const facts: readonly Column<Status>[] = [
  { name: 'server', value: ({ server }) => server },
  { name: 'user', value: ({ user }) => user },
  { name: 'until', value: ({ until }) => until },
  { name: 'nodes', value: ({ nodes }) => nodes?.total ?? null },
  { name: 'nodes_active', value: ({ nodes }) => nodes?.active ?? null },
  { name: 'databases', value: ({ databases }) => databases?.total ?? null },
  { name: 'behind', value: ({ databases }) => databases?.behind ?? null },
]

function draw({ terminal }: Context, status: Status): void {
  const { needs_you, moves } = status
  terminal.out(`${headOf(status, (time) => showTime(Date.parse(time), terminal))}\n`)
  if (needs_you.length === 0) terminal.outPainted(`${terminal.paint('good', 'Nothing needs you.')}\n`)
  const red = (text: string) => terminal.paint('bad', text)
  const lines = [
    ...cellsOf('NEEDS YOU', needs_you, MOST.needs_you, red),
    ...cellsOf('MOVES', moves, MOST.moves),
  ]
  if (lines.length === 0) return
  const columns = terminal.columns()
  const isWide = lines.every((line) => sum(line) <= columns)
  if (isWide) terminal.outPainted(drawTable(lines, columns))
  // The next command is never cut.
  else for (const line of lines) terminal.outPainted(drawNarrow(line, columns))
}

function headOf(
  { server, profile, user, until, nodes, databases }: Status,
  show: (time: string) => string,
): string {
  const isWhole = nodes?.total === nodes?.active
  return [
    ...(profile === null ? [] : [profile]),
    new URL(server).host,
    ...(nodes === null
      ? []
      : [
          `${isWhole ? '' : `${nodes.active} of `}${count(nodes.total, 'node')} ${isWhole ? 'ok' : 'answer'}`,
        ]),
    ...(databases === null ? [] : [`${count(databases.total, 'database')}, ${databases.behind} behind`]),
    `signed in as ${user}${until === null ? '' : ` until ${show(until)}`}`,
  ].join('  ')
}

function cellsOf(
  title: string,
  lines: readonly StatusLine[],
  most: number,
  paint?: (text: string) => string,
): readonly (readonly Cell[])[] {
  const shown = lines.length > most ? lines.slice(0, most - 1) : lines
  const left = lines.length - shown.length
  const rows = shown.map((line, n): readonly Cell[] => [
    { text: n === 0 ? title : '', paint },
    ...[line.name, stateOf(line), line.why, paint === undefined ? '' : line.next].map((text) => ({
      text: inOneLine(text),
    })),
  ])
  const rest = ['', `… and ${left} more`, '', '', 'fairlead status -o jsonl'].map((text) => ({ text }))
  return left === 0 ? rows : [...rows, rest]
}

function stateOf({ state, since_ms }: StatusLine): string {
  return since_ms === null ? state : `${state}, ${showSeconds(Math.max(0, Date.now() - since_ms) / 1_000)}`
}

function drawNarrow(line: readonly Cell[], columns: number): string {
  const [title, name, state, why, next] = line
  const first = drawTable([[title, name, state].map((cell) => padded(cell))], columns)
  const below = [why, next].filter((cell) => cell !== undefined && cell.text !== '')
  return `${first}${foldText(below.map((cell) => `  ${cell?.text}\n`).join(''), columns)}`
}

const padded = (cell: Cell | undefined): Cell => cell ?? { text: '' }

function sum(line: readonly Cell[]): number {
  return line.reduce((all, { text }) => all + widthOf(text), 2 * line.length)
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`
}
