import {
  type Goal,
  isLive,
  type ObservedDatabase,
  type ObservedGroup,
  type Verdict,
} from '../state/topology.ts'
import { hasHandedOver, wayBack } from '../state/way-back.ts'

/**
 * Applies the deadline of waits to a verdict. Waiting for one shard has an end. An action
 * that can be undone without loss (`undoable`) is given up: everything begun is undone. Any other is stuck:
 * it is tried again, and a person must look. `whatToDo` is appended to the reason why a wait was given up.
 */
export function applyDeadlines(
  verdict: Verdict,
  waitedMs: number,
  seen: ObservedGroup,
  undoable: boolean,
  whatToDo = '',
): Verdict {
  if (verdict.kind === 'hopeless') return undoable ? verdict : { ...verdict, kind: 'stuck' }
  if (verdict.kind !== 'wait' || waitedMs < deadlineMs(seen)) return verdict
  const { code } = verdict
  const why = `${verdict.why}, for ${Math.round(waitedMs / 1000)} s now`
  return undoable ? { kind: 'hopeless', code, why: `${why}${whatToDo}` } : { kind: 'stuck', code, why }
}

/**
 * Can the goal still be given up automatically, with nothing lost? True while a group has not handed over, and all groups that have can
 * go back. Once all have, a person has to decide.
 */
export function isUndoable({ groups }: ObservedDatabase, goal: Goal): boolean {
  if (goal.undo || goal.kind === 'remove') return false
  if (goal.from === null) return groups.some(({ recordedPrimary }) => recordedPrimary === null)
  const left = groups.filter((group) => hasHandedOver(group, goal))
  if (left.length === groups.length) return left.every((group) => neverServed(group, goal))
  if (groups.some((group) => !hasHandedOver(group, goal) && isHeadless(group))) return false
  return left.length === 0 || wayBack({ groups: left }, goal).eligible
}

/** The group's primary was restarted in place, and did not start. */
function neverServed({ shards, recordedPrimary }: ObservedGroup, goal: Goal): boolean {
  return goal.inPlace && shards.some(({ id, process }) => id === recordedPrimary && process === 'failed')
}

/** The primary on record is gone, and does not come back. */
function isHeadless({ shards, recordedPrimary }: ObservedGroup): boolean {
  return !shards.some(({ id }) => id === recordedPrimary)
}

/** 30 s, plus the time for a sync of the data at 8 MB/s: measured were 50 to 250 MB/s on this project's machines. */
function deadlineMs({ shards }: ObservedGroup): number {
  const largest = Math.max(0, ...shards.filter(isLive).map(({ engine }) => engine.usedMemoryBytes))
  return 30_000 + largest / 8_000
}
