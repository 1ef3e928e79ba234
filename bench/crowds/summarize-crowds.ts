import { median } from '../auth/median.ts'
import type { Span } from './crowd-load.ts'

/** One database with one crowd through its handovers; times in milliseconds, one for each handover. */
export interface Run {
  readonly what: string
  readonly perSecond: number
  /** Answers that were errors, and connections that ended. */
  readonly errors: number
  /** By the certificates: from the pause to the promotion, and for how long the endpoint held its clients. */
  readonly writeStopsMs: readonly number[]
  readonly heldMs: readonly number[]
  /** By the clients: the longest that a write waited, and the longest time in which none was answered. */
  readonly stallsMs: readonly number[]
  readonly gapsMs: readonly number[]
  /** The longest that a write waited at any other moment: waits that the machine causes without a handover. */
  readonly calmMs: number
}

/** Medians over all handovers of all rounds. */
export interface Row {
  readonly what: string
  readonly handovers: number
  readonly per_second: number
  readonly errors: number
  readonly write_stop_ms: number
  readonly held_ms: number
  readonly gap_ms: number
  readonly stall_ms: number
  readonly longest_stall_ms: number
  readonly calm_ms: number
  /** Of the held times and the gaps, to those of the first row, round by round: the medians. */
  readonly held_ratio: number
  readonly gap_ratio: number
  readonly met: boolean
}

/** With a crowd, writes may stop for this many times the time that they stop for fifty writers alone. */
const MOST = 2
/** The time around the moment in a certificate. */
const BEFORE_MS = 500
const AFTER_MS = 1_000

/** The longest span that touches each of the moments (Unix ms), and the longest of those that touch none. */
export function spansAt(
  spans: readonly Span[],
  moments: readonly number[],
): { readonly atMs: readonly number[]; readonly calmMs: number } {
  const touches = ({ fromMs, toMs }: Span, at: number) => fromMs <= at + AFTER_MS && toMs >= at - BEFORE_MS
  const longest = (among: readonly Span[]) =>
    among.reduce((most, { fromMs, toMs }) => Math.max(most, toMs - fromMs), 0)
  return {
    atMs: moments.map((at) => longest(spans.filter((each) => touches(each, at)))),
    calmMs: longest(spans.filter((each) => !moments.some((at) => touches(each, at)))),
  }
}

/** `rounds`: of each, all runs, the fifty writers alone first: beside them the others of the round are put. */
export function summarizeCrowds(rounds: readonly (readonly Run[])[]): readonly Row[] {
  const names = [...new Set(rounds.flat().map(({ what }) => what))]
  return names.map((what) => {
    const pairs = rounds.flatMap(([alone, ...others]) => {
      const run = [alone, ...others].find((each) => each?.what === what)
      return alone === undefined || run === undefined ? [] : [{ alone, run }]
    })
    const all = (pick: (run: Run) => readonly number[]) => pairs.flatMap(({ run }) => pick(run))
    const middle = (pick: (run: Run) => readonly number[]) => round(median(all(pick)))
    const ratio = (pick: (run: Run) => readonly number[]) =>
      round(median(pairs.map(({ alone, run }) => median(pick(run)) / median(pick(alone)))))
    const ratios = { held_ratio: ratio(({ heldMs }) => heldMs), gap_ratio: ratio(({ gapsMs }) => gapsMs) }
    return {
      what,
      handovers: all(({ heldMs }) => heldMs).length,
      per_second: Math.round(median(pairs.map(({ run }) => run.perSecond))),
      errors: pairs.reduce((sum, { run }) => sum + run.errors, 0),
      write_stop_ms: middle(({ writeStopsMs }) => writeStopsMs),
      held_ms: middle(({ heldMs }) => heldMs),
      gap_ms: middle(({ gapsMs }) => gapsMs),
      stall_ms: middle(({ stallsMs }) => stallsMs),
      longest_stall_ms: round(Math.max(...all(({ stallsMs }) => stallsMs))),
      calm_ms: round(Math.max(...pairs.map(({ run }) => run.calmMs))),
      ...ratios,
      met: ratios.held_ratio <= MOST && ratios.gap_ratio <= MOST,
    }
  })
}

function round(value: number): number {
  return Number(value.toFixed(1))
}
