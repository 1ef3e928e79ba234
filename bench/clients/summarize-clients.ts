import { median } from '../auth/median.ts'

/** A time in which one client got no answer, in Unix ms. */
export interface Gap {
  readonly fromMs: number
  readonly toMs: number
}

/** One library at one pace through an upgrade, its rollback, and an upgrade that preserves roles. */
export interface Run {
  readonly library: string
  /** Operations a second that were asked for. */
  readonly asked: number
  readonly acked: number
  readonly seconds: number
  /** Counted by the text of the error that the client got. */
  readonly errors: Readonly<Record<string, number>>
  readonly reconnects: number
  readonly lost: number
  readonly twice: number
  /** At each handover, the longest time in which a single client got no answer. */
  readonly stallsMs: readonly number[]
  /** For how long the endpoint held them each time, by its own clock. */
  readonly heldMs: readonly number[]
  /** The longest such time at any other moment: waits that the machine causes without a handover. */
  readonly calmMs: number
}

/** All rounds of a library at one pace; times over all their handovers. */
export interface Row {
  readonly library: string
  readonly asked: number
  readonly reached: number
  readonly errors: number
  readonly error_kinds: readonly string[]
  readonly reconnects: number
  readonly lost: number
  readonly twice: number
  readonly handovers: number
  readonly longest_stall_ms: number
  readonly median_stall_ms: number
  readonly longest_held_ms: number
  readonly median_held_ms: number
  readonly calm_ms: number
  /** The names of the goals that are missed. */
  readonly missed: readonly string[]
}

const LONGEST_STALL_MS = 100
const MEDIAN_STALL_MS = 20
/** The time around the moment in a certificate, the same wherever gaps of clients are measured. */
const BEFORE_MS = 250
const AFTER_MS = 1_000

/** The longest gap that touches each handover, and the longest of those that touch none. `handovers` in Unix ms. */
export function stallsOf(
  gaps: readonly Gap[],
  handovers: readonly number[],
): { readonly stallsMs: readonly number[]; readonly calmMs: number } {
  const touches = ({ fromMs, toMs }: Gap, at: number) => fromMs <= at + AFTER_MS && toMs >= at - BEFORE_MS
  const longest = (among: readonly Gap[]) =>
    among.reduce((most, { fromMs, toMs }) => Math.max(most, toMs - fromMs), 0)
  return {
    stallsMs: handovers.map((at) => longest(gaps.filter((gap) => touches(gap, at)))),
    calmMs: longest(gaps.filter((gap) => !handovers.some((at) => touches(gap, at)))),
  }
}

export function summarizeClients(runs: readonly Run[]): readonly Row[] {
  const keys = [...new Set(runs.map(({ library, asked }) => `${library} ${asked}`))]
  return keys.flatMap((key) => {
    const same = runs.filter(({ library, asked }) => `${library} ${asked}` === key)
    const [first] = same
    return first === undefined ? [] : [summarizeOne(first, same)]
  })
}

function summarizeOne({ library, asked }: Run, runs: readonly Run[]): Row {
  const sum = (pick: (run: Run) => number) => runs.reduce((total, run) => total + pick(run), 0)
  const stalls = runs.flatMap(({ stallsMs }) => stallsMs)
  const held = runs.flatMap(({ heldMs }) => heldMs)
  const row = {
    ...{ library, asked },
    reached: Math.round(sum(({ acked }) => acked) / sum(({ seconds }) => seconds)),
    errors: sum(({ errors }) => Object.values(errors).reduce((total, count) => total + count, 0)),
    error_kinds: [...new Set(runs.flatMap(({ errors }) => Object.keys(errors)))].toSorted(),
    reconnects: sum(({ reconnects }) => reconnects),
    lost: sum(({ lost }) => lost),
    twice: sum(({ twice }) => twice),
    handovers: stalls.length,
    longest_stall_ms: round(Math.max(0, ...stalls)),
    median_stall_ms: round(median(stalls)),
    longest_held_ms: round(Math.max(0, ...held)),
    median_held_ms: round(median(held)),
    calm_ms: round(Math.max(0, ...runs.map(({ calmMs }) => calmMs))),
  }
  return { ...row, missed: whatIsMissed(row) }
}

function whatIsMissed(row: Omit<Row, 'missed'>): readonly string[] {
  const zero = (['errors', 'reconnects', 'lost', 'twice'] as const).filter((what) => row[what] > 0)
  return [
    ...zero,
    ...(row.handovers === 0 ? ['handovers'] : []),
    ...(row.longest_stall_ms > LONGEST_STALL_MS ? ['longest stall'] : []),
    ...(row.median_stall_ms > MEDIAN_STALL_MS ? ['median stall'] : []),
  ]
}

function round(ms: number): number {
  return Number(ms.toFixed(1))
}
