import { sayLength } from '@fairlead/api'
import { usualWriteStop } from '../plan/usual-write-stop.ts'
import type { Goal } from '../state/goal.ts'

/** A past handover: its write stop and a client's longest wait in ms; null if not measured. */
export interface PastHandover {
  readonly writeStopMs: number
  readonly longestWaitMs: number | null
}

/** Describes the write stop of an order's handovers, from earlier ones or estimates. Load changes it. */
export function formatWriteStop(
  goal: Pick<Goal, 'cluster' | 'groups'>,
  before: readonly PastHandover[],
): string {
  const each = goal.groups === 1 ? '' : ' in each group'
  if (before.length > 0) {
    const [those, upTo] = before.length === 1 ? ['handover', ''] : ['handovers', 'up to ']
    const longest = longestOf(before.map(({ writeStopMs }) => writeStopMs))
    const waits = before.flatMap(({ longestWaitMs }) => longestWaitMs ?? [])
    const wait = waits.length === 0 ? '' : `, longest wait of a client ${longestOf(waits)}`
    return `writes stop again${each} (in the ${those} before for ${upTo}${longest}${wait}; load changes it)`
  }
  return `writes stop${each} for about ${usualWriteStop(goal).typical} ms on an idle machine, and for longer on a busy one`
}

function longestOf(lengths: readonly number[]): string {
  return sayLength(Math.max(...lengths))
}
