import type { Verdict } from './topology.ts'

/** What one group is to do now. */
export interface Lane {
  readonly group: number
  readonly verdict: Verdict
}
