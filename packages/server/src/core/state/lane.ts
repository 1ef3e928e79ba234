import type { Verdict } from './topology.ts'

/** The verdict for one group. */
export interface Lane {
  readonly group: number
  readonly verdict: Verdict
}
