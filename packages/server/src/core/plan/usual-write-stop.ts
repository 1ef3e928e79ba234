import type { Goal } from '../state/goal.ts'

/** Estimates from bench/upgrade on an idle machine. A busy one takes longer. */
const ALONE = { typical: 5, longest: 30 }
const IN_CLUSTER = { typical: 12, longest: 60 }

/** Returns the expected write stop of a handover in ms: measured median and maximum. */
export function usualWriteStop({ cluster }: Pick<Goal, 'cluster'>): {
  readonly typical: number
  readonly longest: number
} {
  return cluster ? IN_CLUSTER : ALONE
}
