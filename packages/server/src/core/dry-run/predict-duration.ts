import type { TrialResult } from '@fairlead/api'
import type { Goal } from '../state/goal.ts'
import type { Step } from '../state/topology.ts'
import type { Foreseen } from './foresee.ts'

/** A kind of work in a plan. Milliseconds and bytes. */
export interface PartOfDuration {
  readonly part: 'start' | 'restart' | 'copy' | 'load' | 'handover'
  readonly count: number
  /** Null if it does not depend on the data's size. */
  readonly bytes: number | null
  /** Null if unknown. */
  readonly ms: number | null
  /** `trial`: the target's start just now. `measurements`: ours, on another machine. Null: no basis. */
  readonly basedOn: 'trial' | 'measurements' | null
}

/** Duration of a plan, with sequential steps. */
export interface PlannedDuration {
  /** Null if a part is unknown. */
  readonly ms: number | null
  readonly parts: readonly PartOfDuration[]
  /** Additional times, for people. */
  readonly notCounted: readonly string[]
}

/** `dataOf`: bytes of a group. `handoverMs`: of one typical handover. */
export function predictDuration(
  steps: readonly Foreseen[],
  goal: Goal,
  known: {
    readonly trial: TrialResult | null
    readonly dataOf: (group: number) => number
    readonly handoverMs: number
  },
): PlannedDuration {
  const { trial, dataOf, handoverMs } = known
  const startMs = trial?.ok ? trial.startMs : null
  const those = (...kinds: readonly Step['kind'][]) => steps.filter(({ step }) => kinds.includes(step.kind))
  const started = (part: 'start' | 'restart', count: number): PartOfDuration => ({
    part,
    count,
    bytes: null,
    ms: startMs === null ? null : startMs * count,
    basedOn: startMs === null ? null : 'trial',
  })
  const moved = (part: 'copy' | 'load', of: readonly Foreseen[]): PartOfDuration => {
    const bytes = goal.discard ? 0 : of.reduce((sum, { group }) => sum + dataOf(group), 0)
    const ms = Math.round(bytes / BYTES_A_MS)
    return { part, count: of.length, bytes, ms, basedOn: 'measurements' }
  }
  const restarts = those('restart-shard', 'restart-primary')
  const handovers = those('hand-over').length
  const all: readonly PartOfDuration[] = [
    started('start', those('add-shard').length),
    moved('copy', those('add-shard')),
    started('restart', restarts.length),
    moved('load', restarts),
    { part: 'handover', count: handovers, bytes: null, ms: handovers * handoverMs, basedOn: 'measurements' },
  ]
  const parts = all.filter(({ count }) => count > 0)
  const isKnown = parts.every(({ ms }) => ms !== null)
  return {
    ms: isKnown ? parts.reduce((sum, { ms }) => sum + (ms ?? 0), 0) : null,
    parts,
    notCounted: handovers === 0 ? [] : notCounted(goal),
  }
}

function notCounted({ policy: { supervised, rollbackWindow } }: Goal): readonly string[] {
  return [
    ...(supervised ? ['until a user resumes it, before the first handover'] : []),
    ...(rollbackWindow === 'until-finalized' ? ['the rollback window, until a user finalizes'] : []),
    ...(typeof rollbackWindow === 'number' && rollbackWindow > 0
      ? [`the rollback window of ${rollbackWindow} s`]
      : []),
    'the wait for other upgrades, and what clients write meanwhile',
  ]
}

/**
 * Full sync, and saving and loading: 7 to 12 s per GB on two cores (docs/explain/measurements/engines.md §4).
 */
const BYTES_A_MS = 100_000
