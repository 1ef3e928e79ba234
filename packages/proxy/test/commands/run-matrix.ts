import { blocking } from './blocking.ts'
import { compareTranscripts, type Difference } from './compare.ts'
import type { Row } from './row.ts'
import { type Place, type Run, runRows, type Transcript, type Way } from './run-rows.ts'

/** A difference between a run and a single engine. */
export interface Finding extends Difference {
  readonly run: Run
}

/** Runs with one handover in the middle of them. */
const AT_ONCE = 200

/**
 * Each row in each way, in the two protocols in turn, so that each row is asked in both; those of `inBoth` in
 * both in each way. Rows that are alone are never: each of their runs is a handover.
 */
export function runsOf(rows: readonly Row[], inBoth: (row: Row) => boolean): readonly Run[] {
  const runs = rows.flatMap((row, n) =>
    waysOf(row).flatMap((way, m) =>
      protocolsOf(row, inBoth(row), n + m).map((protocol) => ({ row, way, protocol })),
    ),
  )
  return runs.map((run, n) => ({ ...run, tag: `t${String(n).padStart(5, '0')}` }))
}

function protocolsOf({ marks }: Row, inBoth: boolean, turn: number): readonly (2 | 3)[] {
  if (marks.has('resp3')) return [3]
  if (inBoth && !marks.has('alone')) return [2, 3]
  return turn % 2 === 0 ? [2] : [3]
}

function waysOf(row: Row): readonly Way[] {
  const isWaiting = blocking.includes(row) && row.ask !== 'XREAD COUNT 1 STREAMS $k 0'
  return [
    'before',
    'cut',
    'held',
    ...(row.marks.has('no-multi') ? [] : (['transaction'] as const)),
    ...(isWaiting ? (['blocked'] as const) : []),
  ]
}

/** Runs them at `place`, with handovers, and compares their replies with those of a single engine. */
export async function findDifferences(
  place: Place,
  runs: readonly Run[],
  atSingle: (run: Run) => Transcript,
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const batch of batchesOf(runs))
    for (const [n, transcript] of (await runRows(place, batch)).entries()) {
      const run = batch[n]
      if (run === undefined) continue
      const differences = compareTranscripts(transcript, atSingle(run), run.row.marks)
      findings.push(...differences.map((each) => ({ run, ...each })))
    }
  return findings
}

/** Rows that concern the whole database come last, each by itself. */
function batchesOf(runs: readonly Run[]): readonly (readonly Run[])[] {
  const together = runs.filter(({ row }) => !row.marks.has('alone'))
  const alone = runs.filter(({ row }) => row.marks.has('alone'))
  const batches = Array.from({ length: Math.ceil(together.length / AT_ONCE) }, (_, n) =>
    together.slice(n * AT_ONCE, (n + 1) * AT_ONCE),
  )
  return [...batches, ...alone.map((run) => [run])]
}

/**
 * The replies of a single engine to runs; asked once for all runs that differ only in the moment of the
 * handover.
 */
export async function askSingle(single: Place, runs: readonly Run[]): Promise<(run: Run) => Transcript> {
  const first = new Map(runs.map((run) => [keyOf(run), run]))
  const known = new Map<string, Transcript>()
  for (const batch of batchesOf([...first.values()]))
    for (const [n, transcript] of (await runRows(single, batch)).entries()) {
      const run = batch[n]
      if (run !== undefined) known.set(keyOf(run), transcript)
    }
  return (run) => {
    const transcript = known.get(keyOf(run))
    if (transcript === undefined) throw new Error(`a single engine was not asked ${run.row.ask}`)
    return transcript
  }
}

function keyOf({ row, way, protocol }: Run): string {
  const kind = ['before', 'cut', 'held'].includes(way) ? 'held' : way
  return JSON.stringify([row.ask, row.before, row.after, kind, protocol])
}
