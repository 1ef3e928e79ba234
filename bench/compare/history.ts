import type { Compared } from './figures.ts'

/** Names of the figures of each release in bench/history.csv, and those of the demo that they are. */
export const historyFigures = {
  write_stop_ms: 'demo, write stop (ms)',
  client_gap_ms: 'demo, client gap (ms)',
  longest_gap_ms: 'demo, longest gap (ms)',
  demo_s: 'demo, seconds',
} as const
type HistoryFigure = keyof typeof historyFigures

/** A measured release: medians of its rounds, and their ratios to the commit `base` in the same run. */
export interface Measured {
  readonly release: string
  readonly commit: string
  /** YYYY-MM-DD. */
  readonly date: string
  readonly base: string
  readonly rounds: number
  readonly now: Readonly<Record<HistoryFigure, number>>
  readonly ratio: Readonly<Record<HistoryFigure, number>>
}

const about = ['release', 'commit', 'date', 'base', 'rounds'] as const
const figures = Object.keys(historyFigures) as readonly HistoryFigure[]
/** The first line of bench/history.csv: the ratio of each figure follows it. */
export const historyHead = [...about, ...figures.flatMap((name) => [name, `${name}_ratio`])].join()

/** Returns the line of a release in bench/history.csv. Throws if the demo was not compared. */
export function printHistoryLine(
  release: Pick<Measured, (typeof about)[number]>,
  compared: readonly Compared[],
): string {
  const columns = figures.flatMap((name) => {
    const found = compared.find((each) => each.name === historyFigures[name])
    if (found === undefined) throw new Error('the history has figures of the demo: compare it, too')
    return [found.now, found.ratio.median].map((value) => Number(value.toPrecision(3)))
  })
  return [...about.map((name) => release[name]), ...columns].join()
}

/** Parses bench/history.csv. */
export function readHistory(csv: string): readonly Measured[] {
  const [head, ...lines] = csv.trim().split('\n')
  if (head !== historyHead) throw new Error(`bench/history.csv has to begin with ${historyHead}`)
  return lines.map((line) => {
    const [release = '', commit = '', date = '', base = '', rounds, ...values] = line.split(',')
    const columns = (offset: number) =>
      Object.fromEntries(figures.map((name, n) => [name, Number(values[2 * n + offset])])) as Measured['now']
    return { release, commit, date, base, rounds: Number(rounds), now: columns(0), ratio: columns(1) }
  })
}
