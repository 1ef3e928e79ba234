import { sayLength } from '@fairlead/api'
import { usualWriteStop } from '../plan/usual-write-stop.ts'
import type { Goal } from '../state/goal.ts'

/** For how long the handovers of an order will stop writes: what those before it took, or what is usual. Nothing is promised: load changes it. */
export function sayWriteStop(
  goal: Pick<Goal, 'cluster' | 'groups'>,
  { writeStopsMs: before }: { readonly writeStopsMs: readonly number[] },
): string {
  const each = goal.groups === 1 ? '' : ' in each group'
  if (before.length > 0) {
    const longest = sayLength(Math.max(...before))
    const then =
      before.length === 1
        ? `in the handover before for ${longest}`
        : `in the handovers before for up to ${longest}`
    return `writes stop again${each} (${then}; load changes it)`
  }
  return `writes stop${each} for about ${usualWriteStop(goal).typical} ms on an idle machine, and for longer on a busy one`
}
