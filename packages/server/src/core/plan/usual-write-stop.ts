import type { Goal } from '../state/goal.ts'

/** Estimates: measured by bench/upgrade on a machine with little else to do. A busy machine takes longer. */
const ALONE = { typical: 5, longest: 30 }
const IN_CLUSTER = { typical: 12, longest: 60 }

/** The write stop of a handover as far as it is known before: in milliseconds, the median and the longest that was measured. */
export function usualWriteStop({ cluster }: Pick<Goal, 'cluster'>): {
  readonly typical: number
  readonly longest: number
} {
  return cluster ? IN_CLUSTER : ALONE
}
