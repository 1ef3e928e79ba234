import Table from 'cli-table3'
import { median } from '../median.ts'

/** Figures of one run of a bench, by name: milliseconds, seconds or requests a second. */
export type Figures = Readonly<Record<string, number>>

/** The same figure of two commits; the ratios are those of the rounds. */
export interface Compared {
  readonly name: string
  readonly before: number
  readonly now: number
  readonly ratio: { readonly median: number; readonly least: number; readonly most: number }
}

/** Reads the figures in what `demo --json` prints; commits print the same names. */
export function figuresOfDemo(text: string): Figures {
  const { write_stop_ms, client_gap_ms, seconds, lost, duplicated } = JSON.parse(text) as {
    readonly [Name in 'write_stop_ms' | 'client_gap_ms']: { readonly median: number; readonly max: number }
  } & Record<'seconds' | 'lost' | 'duplicated', number>
  if (lost + duplicated > 0) throw new Error(`writes were lost (${lost}) or executed twice (${duplicated})`)
  return {
    'demo, write stop (ms)': write_stop_ms.median,
    'demo, client gap (ms)': client_gap_ms.median,
    'demo, longest gap (ms)': client_gap_ms.max,
    'demo, seconds': seconds,
  }
}

/** Reads the figures in what `bench handover --json` prints. */
export function figuresOfHandover(text: string): Figures {
  const pairs = JSON.parse(text) as readonly ({ readonly pair: string } & {
    readonly [Name in 'write_stop_ms' | 'client_gap_ms' | 'idle_upgrade_ms']: { readonly median: number }
  })[]
  return Object.fromEntries(
    pairs.flatMap(({ pair, write_stop_ms, client_gap_ms, idle_upgrade_ms }) => [
      [`${pair}, write stop (ms)`, write_stop_ms.median],
      [`${pair}, client gap (ms)`, client_gap_ms.median],
      [`${pair}, idle upgrade (ms)`, idle_upgrade_ms.median],
    ]),
  )
}

/** Reads the figures of the endpoint in what `bench endpoint --only load --json` prints. */
export function figuresOfEndpoint(text: string): Figures {
  const { rows } = JSON.parse(text) as {
    readonly rows: readonly { readonly way: string; readonly pipeline: number; readonly perSecond: number }[]
  }
  return Object.fromEntries(
    rows
      .filter(({ way }) => way === 'endpoint')
      .map(({ pipeline, perSecond }) => [`endpoint, requests/s, ${pipeline} under way`, perSecond]),
  )
}

/** Compares rounds of two commits. A figure that one of them does not have is left out. */
export function compare(before: readonly Figures[], now: readonly Figures[]): readonly Compared[] {
  const names = Object.keys(now[0] ?? {}).filter((name) => before[0]?.[name] !== undefined)
  return names.map((name) => {
    const [theirs, ours] = [before, now].map((rounds) => rounds.map((figures) => figures[name] ?? 0))
    const ratios = (ours ?? []).map((value, round) => value / (theirs?.[round] ?? 0))
    return {
      name,
      before: median(theirs ?? []),
      now: median(ours ?? []),
      ratio: { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) },
    }
  })
}

export function printCompared(
  [base, measured]: readonly [base: string, measured: string],
  compared: readonly Compared[],
): string {
  const table = new Table({
    head: ['figure', base, measured, 'ratio', 'least to most'],
    style: { head: [], border: [] },
  })
  const short = (value: number) => String(Number(value.toPrecision(3)))
  for (const { name, before, now, ratio } of compared)
    table.push([
      name,
      short(before),
      short(now),
      `${short(ratio.median)} ×`,
      `${short(ratio.least)} to ${short(ratio.most)}`,
    ])
  return `${table.toString()}\n`
}
