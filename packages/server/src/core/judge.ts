import { revisionOf } from './goal.ts'
import { type Goal, isLive, type Seen, type Verdict } from './topology.ts'

/**
 * What becomes of a verdict in time, and of hopelessness. Waiting for one shard has an end; and giving up is only for
 * who has something to go back to: before the handover of an upgrade everything begun is undone, afterwards a person
 * must look, and it is tried on.
 */
export function judge(verdict: Verdict, waitedMs: number, seen: Seen, goal: Goal): Verdict {
  if (verdict.kind === 'hopeless')
    return isUndoable(seen, goal) ? verdict : { kind: 'stuck', why: verdict.why }
  if (verdict.kind !== 'wait' || waitedMs < deadlineMs(seen)) return verdict
  const why = `${verdict.why}, for ${Math.round(waitedMs / 1000)} s now`
  return isUndoable(seen, goal) ? { kind: 'hopeless', why } : { kind: 'stuck', why }
}

/** Can the goal still be given up with nothing lost? True until the primary runs the goal's revision. */
export function isUndoable(seen: Seen, goal: Goal): boolean {
  if (goal.undo || goal.kind === 'remove') return false
  if (seen.recordedPrimary === null) return true
  const recorded = seen.shards.find((shard) => shard.id === seen.recordedPrimary)
  return recorded !== undefined && revisionOf(recorded.wanted) !== revisionOf(goal)
}

/** 30 s, and what a sync of the data takes at 8 MB/s: measured are 50 to 250 MB/s on this project's machines. */
function deadlineMs({ shards }: Seen): number {
  const largest = Math.max(0, ...shards.filter(isLive).map(({ engine }) => engine.usedMemoryBytes))
  return 30_000 + largest / 8_000
}
